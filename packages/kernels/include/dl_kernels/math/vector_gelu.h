// gelu(x) = x · Φ(x), with the distribution function Φ of the standard normal distribution, and its
// derivative: those of float of the backend.
#ifndef DL_KERNELS_MATH_VECTOR_GELU_H_
#define DL_KERNELS_MATH_VECTOR_GELU_H_

#include <cmath>

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/vector_gelu.h"
#else
#include "dl_kernels/cpu/vector_gelu.h"
#endif

DL_KERNELS_BEGIN

namespace math {

DL_FN double normal_cdf(double x) { return 0.5 * (1.0 + ::erf(x * 0.70710678118654752440)); }
// Beyond 40 both are their limits, which infinities would make NaN.
DL_FN double gelu(double x) { return x < -40.0 ? -0.0 : x * normal_cdf(x); }
DL_FN double gelu_derivative(double x) {
  const double cdf = normal_cdf(x);
  const bool beyond = x < -40.0 || x > 40.0;
  return beyond ? cdf : cdf + x * ::exp(-0.5 * x * x) * 0.39894228040143267794;
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_VECTOR_GELU_H_
