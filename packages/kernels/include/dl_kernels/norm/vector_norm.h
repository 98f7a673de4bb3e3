// The norm of all elements of a tensor. Defined in ops/norm.inc, once per library.
#ifndef DL_KERNELS_NORM_VECTOR_NORM_H_
#define DL_KERNELS_NORM_VECTOR_NORM_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// `out` has one element.
diopiError_t norm_of_all(diopiContextHandle_t ctx, const char* op, TensorRef out,
                         const TensorRef& input, double p);

// Check that the norm of a tensor is defined: minima and maxima need elements.
inline diopiError_t check_norm_of_all(const char* op, const TensorRef& input, double p) {
  if (!is_floating(input.dtype)) return diopiDtypeNotSupported;
  if (input.ndim > kMaxDims) return diopiNoImplement;
  if (input.numel == 0 && !(p >= 0 && p <= largest<double>()))
    return fail(op, "the norm of order %g of an empty tensor is undefined", p);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_VECTOR_NORM_H_
