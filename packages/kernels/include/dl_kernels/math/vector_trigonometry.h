// Trigonometric and hyperbolic functions and their inverses: for float in the backend's
// implementation, for double by the C library. For float, sine(x, quarter), which is the sine of x
// + quarter · π/2 for a quarter of 0 or 1, sine_and_cosine and tan require |x| <
// kTrigonometricLimit.
#ifndef DL_KERNELS_MATH_VECTOR_TRIGONOMETRY_H_
#define DL_KERNELS_MATH_VECTOR_TRIGONOMETRY_H_

#include <cmath>

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/vector_trigonometry.h"
#else
#include "dl_kernels/cpu/vector_trigonometry.h"
#endif

DL_KERNELS_BEGIN

namespace math {

#define DL_LIBRARY_FUNCTION(name) \
  DL_FN double name(double x) { return ::name(x); }
DL_LIBRARY_FUNCTION(tan)
DL_LIBRARY_FUNCTION(asin)
DL_LIBRARY_FUNCTION(acos)
DL_LIBRARY_FUNCTION(atan)
DL_LIBRARY_FUNCTION(sinh)
DL_LIBRARY_FUNCTION(cosh)
DL_LIBRARY_FUNCTION(asinh)
DL_LIBRARY_FUNCTION(acosh)
DL_LIBRARY_FUNCTION(atanh)
#undef DL_LIBRARY_FUNCTION
DL_FN double atan2(double y, double x) { return ::atan2(y, x); }
DL_FN void sine_and_cosine(double x, double* sine, double* cosine) {
  *sine = ::sin(x);
  *cosine = ::cos(x);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_VECTOR_TRIGONOMETRY_H_
