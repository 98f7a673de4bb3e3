// Reductions of losses: none, mean and sum.
#ifndef DL_KERNELS_BASE_LOSS_REDUCTION_H_
#define DL_KERNELS_BASE_LOSS_REDUCTION_H_

#include <cstdint>

#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Check a loss or its gradient: it has one element per element of the input, or a single one.
inline diopiError_t check_reduced(const char* op, const char* what, const TensorRef& tensor,
                                  diopiReduction_t reduction, int64_t losses) {
  const int64_t wanted = reduction == ReductionNone ? losses : 1;
  if (tensor.numel == wanted) return diopiSuccess;
  return fail(op, "%s has %lld elements; reduction \"%s\" of %lld losses needs %lld", what,
              (long long)tensor.numel,
              reduction == ReductionNone   ? "none"
              : reduction == ReductionMean ? "mean"
                                           : "sum",
              (long long)losses, (long long)wanted);
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_LOSS_REDUCTION_H_
