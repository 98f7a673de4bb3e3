// Contiguous arrays as matrices, and the shapes of linear layers.
#ifndef DL_KERNELS_MATRIX_LINEAR_SHAPE_H_
#define DL_KERNELS_MATRIX_LINEAR_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// A contiguous array as a matrix, or its transpose.
class DenseMatrix {
 public:
  template <class T>
  DenseMatrix(const T* data, int64_t rows, int64_t columns, bool transposed = false)
      : sizes_{rows, columns}, strides_{transposed ? 1 : columns, transposed ? rows : 1} {
    tensor_.data = const_cast<T*>(data);
    tensor_.sizes = sizes_;
    tensor_.strides = strides_;
    tensor_.ndim = 2;
    tensor_.numel = rows * columns;
    tensor_.dtype = dtype_of<T>();
    tensor_.contiguous = !transposed;
  }
  DenseMatrix(const DenseMatrix&) = delete;
  DenseMatrix& operator=(const DenseMatrix&) = delete;
  operator const TensorRef&() const { return tensor_; }

 private:
  int64_t sizes_[2], strides_[2];
  TensorRef tensor_{};
};

struct LinearShape {
  int64_t rows, inner, columns;
};

// `input` […, k], `out` […, n] and `weight` [n, k], or [k, n] if `transposed`.
inline diopiError_t linear_shape(const char* op, const TensorRef& out, const TensorRef& input,
                                 const TensorRef& weight, bool transposed, LinearShape* shape) {
  bool fits = input.ndim >= 1 && out.ndim == input.ndim && weight.ndim == 2;
  for (int64_t d = 0; fits && d + 1 < input.ndim; ++d) fits = out.sizes[d] == input.sizes[d];
  const int64_t last = input.ndim - 1;
  fits = fits && weight.sizes[transposed ? 0 : 1] == input.sizes[last] &&
         weight.sizes[transposed ? 1 : 0] == out.sizes[last];
  if (!fits) return fail(op, "input, weight and output do not have shapes of a linear layer");
  *shape = {1, input.sizes[last], out.sizes[last]};
  for (int64_t d = 0; d < last; ++d) shape->rows *= input.sizes[d];
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_LINEAR_SHAPE_H_
