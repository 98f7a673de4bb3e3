// Broadcasting of tensors.
#ifndef DL_KERNELS_LAYOUT_BROADCAST_H_
#define DL_KERNELS_LAYOUT_BROADCAST_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Compute the shape to which two tensors are broadcast.
inline diopiError_t broadcast_shape(const char* op, const TensorRef& a, const TensorRef& b,
                                    int64_t (&sizes)[kMaxDims], int64_t* ndim) {
  *ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
  if (*ndim > kMaxDims) return diopiNoImplement;
  for (int64_t d = 0; d < *ndim; ++d) {
    const int64_t e = d - (*ndim - a.ndim), f = d - (*ndim - b.ndim);
    const int64_t left = e < 0 ? 1 : a.sizes[e], right = f < 0 ? 1 : b.sizes[f];
    if (left != right && left != 1 && right != 1) {
      return fail(op, "shapes with %lld and %lld elements in dim %lld cannot be broadcast",
                  (long long)left, (long long)right, (long long)d);
    }
    sizes[d] = left == 1 ? right : left;
  }
  return diopiSuccess;
}

// Check that a tensor can be broadcast to the shape of `target`.
inline diopiError_t check_broadcast(const char* op, const char* name, const TensorRef& tensor,
                                    const TensorRef& target) {
  if (target.ndim > kMaxDims) return diopiNoImplement;
  bool fits = tensor.ndim <= target.ndim;
  for (int64_t d = 0; fits && d < tensor.ndim; ++d) {
    const int64_t size = tensor.sizes[d];
    fits = size == 1 || size == target.sizes[d + target.ndim - tensor.ndim];
  }
  if (fits) return diopiSuccess;
  return fail(op, "%s has %lld elements in %lld dimensions and cannot be broadcast to %lld in %lld",
              name, (long long)tensor.numel, (long long)tensor.ndim, (long long)target.numel,
              (long long)target.ndim);
}

// Return a view of `tensor` expanded to the given shape, with stride 0 along broadcast dimensions.
inline TensorRef expanded(const TensorRef& tensor, const int64_t* sizes, int64_t ndim,
                          int64_t (&strides)[kMaxDims]) {
  TensorRef seen = tensor;
  seen.contiguous = tensor.contiguous && tensor.ndim == ndim;
  seen.numel = 1;
  for (int64_t d = 0; d < ndim; ++d) {
    const int64_t e = d - (ndim - tensor.ndim);
    const bool repeated = e < 0 || tensor.sizes[e] != sizes[d];
    strides[d] = repeated ? 0 : tensor.strides[e];
    if (repeated) seen.contiguous = false;
    seen.numel *= sizes[d];
  }
  seen.sizes = sizes;
  seen.strides = strides;
  seen.ndim = ndim;
  return seen;
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_BROADCAST_H_
