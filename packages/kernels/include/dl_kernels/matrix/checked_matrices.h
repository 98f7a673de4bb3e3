// Tensors as batches of matrices in their last two dimensions.
#ifndef DL_KERNELS_MATRIX_CHECKED_MATRICES_H_
#define DL_KERNELS_MATRIX_CHECKED_MATRICES_H_

#include <cstdint>
#include <initializer_list>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/layout/view.h"

DL_KERNELS_BEGIN

// Dtypes that factorizations support.
inline constexpr uint32_t kFactored = kSingleAndDouble | kComplexes;

// Sizes of the last two dimensions, which must exist, and the number of matrices.
struct Matrices {
  explicit Matrices(const TensorRef& tensor)
      : rows(tensor.sizes[tensor.ndim - 2]), columns(tensor.sizes[tensor.ndim - 1]) {
    for (int64_t d = 0; d < tensor.ndim - 2; ++d) batch *= tensor.sizes[d];
  }
  int64_t rows, columns, batch = 1;
};

inline diopiError_t check_matrices(const char* op, const char* name, const TensorRef& tensor) {
  if (tensor.ndim > kMaxDims) return diopiNoImplement;
  if (tensor.ndim >= 2) return diopiSuccess;
  return fail(op, "%s has %lld dimensions; matrices need two", name, (long long)tensor.ndim);
}

inline diopiError_t check_square(const char* op, const char* name, const TensorRef& tensor) {
  DL_TRY(check_matrices(op, name, tensor));
  const Matrices sizes(tensor);
  if (sizes.rows == sizes.columns) return diopiSuccess;
  return fail(op, "%s has matrices of %lldx%lld; they must be square", name, (long long)sizes.rows,
              (long long)sizes.columns);
}

// Return true if `tensor` has the leading dimensions of the matrices, followed by `last`.
inline bool has_batch_of(const TensorRef& tensor, const TensorRef& matrices,
                         std::initializer_list<int64_t> last) {
  const int64_t leading = matrices.ndim - 2;
  if (tensor.ndim != leading + static_cast<int64_t>(last.size())) return false;
  for (int64_t d = 0; d < leading; ++d) {
    if (tensor.sizes[d] != matrices.sizes[d]) return false;
  }
  int64_t d = leading;
  for (const int64_t size : last) {
    if (tensor.sizes[d++] != size) return false;
  }
  return true;
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_CHECKED_MATRICES_H_
