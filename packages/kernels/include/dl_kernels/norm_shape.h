// How a tensor splits into rows for normalisations over its trailing dimensions.
#ifndef DL_KERNELS_NORM_SHAPE_H_
#define DL_KERNELS_NORM_SHAPE_H_

#include <cstdint>

#include "dl_kernels/error.h"
#include "dl_kernels/tensor_ref.h"

DL_KERNELS_BEGIN

struct NormShape {
  int64_t rows, width;
};

inline diopiError_t norm_shape(const char* op, const TensorRef& input, diopiSize_t normalized,
                               NormShape* shape) {
  if (normalized.len < 1 || normalized.len > input.ndim) {
    return fail(op, "normalized_shape has %lld dimensions, the input %lld; give 1 to %lld",
                (long long)normalized.len, (long long)input.ndim, (long long)input.ndim);
  }
  *shape = {1, 1};
  const int64_t leading = input.ndim - normalized.len;
  for (int64_t d = 0; d < input.ndim; ++d) {
    const int64_t extent = input.sizes[d];
    if (d < leading) {
      shape->rows *= extent;
      continue;
    }
    if (normalized.data[d - leading] != extent) {
      return fail(op, "normalized_shape has %lld in its dim %lld where the input has %lld",
                  (long long)normalized.data[d - leading], (long long)(d - leading),
                  (long long)extent);
    }
    shape->width *= extent;
  }
  return diopiSuccess;
}

inline diopiError_t check_affine(const char* op, diopiConstTensorHandle_t weight,
                                 diopiConstTensorHandle_t bias, int64_t width) {
  if (absent_or_numel(weight, width) && absent_or_numel(bias, width)) return diopiSuccess;
  return fail(op, "weight, bias and their gradients must have the %lld elements of a row",
              (long long)width);
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_SHAPE_H_
