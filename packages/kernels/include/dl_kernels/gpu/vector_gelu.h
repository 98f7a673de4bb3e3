// GPU: gelu and its derivative of floats, by the device's library.
#ifndef DL_KERNELS_GPU_VECTOR_GELU_H_
#define DL_KERNELS_GPU_VECTOR_GELU_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

DL_FN float normal_cdf(float x) { return 0.5f * ::erfcf(x * -0x1.6a09e6p-1f); }
// From kGeluReach on, both are their limits, which infinities would make NaN.
inline constexpr float kGeluReach = 20.0f;
DL_FN float gelu(float x) { return x < -kGeluReach ? -0.0f : x * normal_cdf(x); }
DL_FN float gelu_of_bfloat16(float x) { return gelu(x); }
DL_FN float gelu_derivative(float x) {
  const float cdf = normal_cdf(x);
  const bool beyond = x < -kGeluReach || x > kGeluReach;
  return beyond ? cdf : cdf + x * ::expf(-0.5f * x * x) * 0x1.988454p-2f;
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_VECTOR_GELU_H_
