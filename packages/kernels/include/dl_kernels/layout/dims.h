// Dimension arguments: negative ones count from the end, and all are checked.
#ifndef DL_KERNELS_LAYOUT_DIMS_H_
#define DL_KERNELS_LAYOUT_DIMS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Return `dim` counted from the front, or -1 if it is out of range. A 0-dimensional tensor is
// treated as 1-dimensional.
DL_FN int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t count = ndim > 0 ? ndim : 1;
  if (dim < -count || dim >= count) return -1;
  return dim < 0 ? dim + count : dim;
}

// The same for an argument of operator `op`, which fails if the dimension is out of range.
inline diopiError_t check_dim(const char* op, int64_t dim, int64_t ndim, int64_t* wrapped) {
  *wrapped = wrap_dim(dim, ndim);
  if (*wrapped >= 0) return diopiSuccess;
  return fail(op, "dim %lld is out of range for a tensor with %lld dimensions", (long long)dim,
              (long long)ndim);
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_DIMS_H_
