// Transcendental functions: for float in the backend's implementation, for double by the C library.
// Both have magnitude (the absolute value), exp, expm1, log, log2, log10, log1p, log1p_of_fraction
// (for [0, 1]), pow, tanh, sigmoid and erf.
#ifndef DL_KERNELS_MATH_VECTOR_MATH_H_
#define DL_KERNELS_MATH_VECTOR_MATH_H_

#include <cmath>

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/vector_math.h"
#else
#include "dl_kernels/cpu/vector_math.h"
#endif

DL_KERNELS_BEGIN

namespace math {

DL_FN float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

DL_FN double magnitude(double x) { return ::fabs(x); }
DL_FN double exp(double x) { return ::exp(x); }
DL_FN double expm1(double x) { return ::expm1(x); }
DL_FN double log(double x) { return ::log(x); }
DL_FN double pow(double x, double y) { return ::pow(x, y); }
DL_FN double log2(double x) { return ::log2(x); }
DL_FN double log10(double x) { return ::log10(x); }
DL_FN double log1p(double x) { return ::log1p(x); }
DL_FN double log1p_of_fraction(double u) { return ::log1p(u); }
DL_FN double tanh(double x) { return ::tanh(x); }
DL_FN double sigmoid(double x) { return 1.0 / (1.0 + ::exp(-x)); }
DL_FN double erf(double x) { return ::erf(x); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_VECTOR_MATH_H_
