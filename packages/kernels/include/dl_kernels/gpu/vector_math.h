// GPU: transcendental functions of floats by the device's own library.
#ifndef DL_KERNELS_GPU_VECTOR_MATH_H_
#define DL_KERNELS_GPU_VECTOR_MATH_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/float16.h"

DL_KERNELS_BEGIN

namespace math {

DL_FN float magnitude(float x) { return bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu); }
DL_FN float fused(float a, float b, float c) { return ::fmaf(a, b, c); }  // a · b + c
DL_FN float exp(float x) { return ::expf(x); }
DL_FN float expm1(float x) { return ::expm1f(x); }
DL_FN float log(float x) { return ::logf(x); }
DL_FN float log2(float x) { return ::log2f(x); }
DL_FN float log10(float x) { return ::log10f(x); }
DL_FN float log1p(float x) { return ::log1pf(x); }
DL_FN float tanh(float x) { return ::tanhf(x); }
DL_FN float erf(float x) { return ::erff(x); }
DL_FN float log1p_of_fraction(float u) { return ::log1pf(u); }
DL_FN float pow(float x, float y) { return ::powf(x, y); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_VECTOR_MATH_H_
