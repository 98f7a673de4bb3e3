// Shapes of the operands of products with broadcast leading dimensions.
#ifndef DL_KERNELS_MATRIX_BATCHED_OPERAND_H_
#define DL_KERNELS_MATRIX_BATCHED_OPERAND_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Check a product of tensors of `ndim` dimensions, two or three, without broadcasting.
inline diopiError_t check_product(const char* op, const TensorRef& out, const TensorRef& a,
                                  const TensorRef& b, int64_t ndim) {
  if (out.ndim != ndim || a.ndim != ndim || b.ndim != ndim) {
    return fail(op, "tensors with %lld, %lld and %lld dimensions were given; all need %lld",
                (long long)out.ndim, (long long)a.ndim, (long long)b.ndim, (long long)ndim);
  }
  const int64_t d = ndim - 2;
  if (a.sizes[d + 1] != b.sizes[d] || out.sizes[d] != a.sizes[d] ||
      out.sizes[d + 1] != b.sizes[d + 1]) {
    return fail(op, "%lldx%lld times %lldx%lld does not give %lldx%lld", (long long)a.sizes[d],
                (long long)a.sizes[d + 1], (long long)b.sizes[d], (long long)b.sizes[d + 1],
                (long long)out.sizes[d], (long long)out.sizes[d + 1]);
  }
  if (ndim == 3 && (a.sizes[0] != out.sizes[0] || b.sizes[0] != out.sizes[0])) {
    return fail(op, "batches of %lld and %lld matrices do not give %lld", (long long)a.sizes[0],
                (long long)b.sizes[0], (long long)out.sizes[0]);
  }
  if (out.dtype != a.dtype || out.dtype != b.dtype) return diopiDtypeNotSupported;
  return diopiSuccess;
}

// The batch strides of an operand broadcast to the output's, and the matrix itself. A vector is a
// matrix with one row (`left`) or one column.
struct BatchedOperand {
  int64_t strides[kMaxDims];
  int64_t rows, columns, row, column;
};

inline diopiError_t batched_operand(const char* op, const TensorRef& tensor, bool left,
                                    const int64_t* batch_shape, int64_t batch_dims,
                                    BatchedOperand* operand) {
  const bool vector = tensor.ndim == 1;
  const int64_t d = vector ? 0 : tensor.ndim - 2;
  if (d > batch_dims) {
    return fail(op, "%lld batch dimensions were given for the output's %lld", (long long)d,
                (long long)batch_dims);
  }
  const int64_t first = tensor.sizes[d], first_stride = tensor.strides[d];
  if (vector) {
    *operand = {
        {}, left ? 1 : first, left ? first : 1, left ? 0 : first_stride, left ? first_stride : 0};
  } else {
    *operand = {{}, first, tensor.sizes[d + 1], first_stride, tensor.strides[d + 1]};
  }
  for (int64_t i = 0; i < batch_dims; ++i) {
    const int64_t e = i - (batch_dims - d);
    if (e < 0 || tensor.sizes[e] == 1) {
      operand->strides[i] = 0;
    } else if (tensor.sizes[e] == batch_shape[i]) {
      operand->strides[i] = tensor.strides[e];
    } else {
      return fail(op, "batch dim %lld has %lld elements and cannot be broadcast to %lld",
                  (long long)e, (long long)tensor.sizes[e], (long long)batch_shape[i]);
    }
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_BATCHED_OPERAND_H_
