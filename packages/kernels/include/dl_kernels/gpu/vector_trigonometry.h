// GPU: trigonometric and hyperbolic functions of floats by the device's own library.
#ifndef DL_KERNELS_GPU_VECTOR_TRIGONOMETRY_H_
#define DL_KERNELS_GPU_VECTOR_TRIGONOMETRY_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

inline constexpr float kTrigonometricLimit = std::numeric_limits<float>::infinity();

DL_FN float sine(float x, int32_t quarter) { return quarter == 0 ? ::sinf(x) : ::cosf(x); }
DL_FN void sine_and_cosine(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }
DL_FN float tan(float x) { return ::tanf(x); }
DL_FN float asin(float x) { return ::asinf(x); }
DL_FN float acos(float x) { return ::acosf(x); }
DL_FN float atan(float x) { return ::atanf(x); }
DL_FN float sinh(float x) { return ::sinhf(x); }
DL_FN float cosh(float x) { return ::coshf(x); }
DL_FN float asinh(float x) { return ::asinhf(x); }
DL_FN float acosh(float x) { return ::acoshf(x); }
DL_FN float atanh(float x) { return ::atanhf(x); }
DL_FN float atan2(float y, float x) { return ::atan2f(y, x); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_VECTOR_TRIGONOMETRY_H_
