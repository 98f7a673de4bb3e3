// gelu(x) = x · Φ(x), where Φ is the distribution function of the standard normal distribution, and
// its derivative. The float versions are free of branches, so that compilers vectorize them: both
// are their limits (x or 0, and 1 or 0) plus a correction that is the same on both sides of 0, for
// |x| up to 6. Polynomials are our own weighted least-squares fits (Lawson's iteration) on [0, 6];
// the absolute errors of the corrections are below 2^-23. In `gelu_of_bfloat16`, errors relative to
// the corrections are below 2^-12.9.
#ifndef DL_KERNELS_MATH_VECTOR_GELU_H_
#define DL_KERNELS_MATH_VECTOR_GELU_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace math {

// 2^r on |r| <= 1 / 2, with the precision of float and of bfloat16.
DL_FN float power_of_fraction(float r) {
  float p = 0x1.5c08e6p-10f;
  p = fused(p, r, 0x1.3d0c54p-7f);
  p = fused(p, r, 0x1.c6b6e4p-5f);
  p = fused(p, r, 0x1.ebf918p-3f);
  p = fused(p, r, 0x1.62e428p-1f);
  return fused(p, r, 0x1.000002p+0f);
}
DL_FN float power_of_fraction_of_bfloat16(float r) {
  float p = 0x1.c3f5fep-5f;
  p = fused(p, r, 0x1.f0de24p-3f);
  p = fused(p, r, 0x1.62f31ep-1f);
  return fused(p, r, 0x1.fff692p-1f);
}

// 2^(product · factor + exponent), which is in [-100, 0], for a small integer exponent.
template <class Fraction>
DL_FN float power_of_two_near(float product, float factor, float exponent, Fraction power) {
  // Adding 1.5·2^23 rounds to an integer and leaves it in the low bits.
  const float shifted = fused(product, factor, exponent + 12582912.0f);
  const float p = power(fused(product, factor, (exponent + 12582912.0f) - shifted));
  return bit_cast<float>(bit_cast<uint32_t>(p) + (bit_cast<uint32_t>(shifted) << 23));
}

inline constexpr float kGeluReach = 6.0f;
DL_FN float gelu_distance(float a) { return kGeluReach < a ? kGeluReach : a; }  // keeps NaN

DL_FN float gelu(float x) {
  const float a = magnitude(x), c = gelu_distance(a);
  float q = -0x1.5e3adep-19f;  // log2(1 - Φ(c))
  q = fused(q, c, 0x1.357482p-15f);
  q = fused(q, c, -0x1.6fa66ep-13f);
  q = fused(q, c, -0x1.51d132p-13f);
  q = fused(q, c, 0x1.d0d0e0p-8f);
  q = fused(q, c, -0x1.ae33f0p-5f);
  q = fused(q, c, -0x1.d63918p-2f);
  q = fused(q, c, -0x1.26aee2p+0f);
  const float limit = x < 0.0f ? 0.0f : x;
  const float corrected = fused(-c, power_of_two_near(q, c, -1.0f, power_of_fraction), limit);
  return a >= kGeluReach ? limit : corrected;
}

// For results that are rounded to bfloat16: the error is a twentieth of that rounding error.
DL_FN float gelu_of_bfloat16(float x) {
  const float a = magnitude(x), c = gelu_distance(a);
  float q = 0x1.892176p-16f;  // log2(1 - Φ(c))
  q = fused(q, c, -0x1.44ea32p-11f);
  q = fused(q, c, 0x1.dbcf26p-8f);
  q = fused(q, c, -0x1.a5382ep-5f);
  q = fused(q, c, -0x1.d7ecaep-2f);
  q = fused(q, c, -0x1.2685e0p+0f);
  const float limit = x < 0.0f ? 0.0f : x;
  const float corrected =
      fused(-c, power_of_two_near(q, c, -1.0f, power_of_fraction_of_bfloat16), limit);
  return a >= kGeluReach ? limit : corrected;
}

DL_FN float gelu_derivative(float x) {
  const float a = magnitude(x), c = gelu_distance(a);
  float q = 0x1.85bc3cp-23f;  // e^(c²/2) · (c · φ(c) - (1 - Φ(c)))
  q = fused(q, c, -0x1.551910p-18f);
  q = fused(q, c, 0x1.088b4ap-14f);
  q = fused(q, c, -0x1.e740dcp-12f);
  q = fused(q, c, 0x1.2f9a5cp-9f);
  q = fused(q, c, -0x1.1777cep-7f);
  q = fused(q, c, 0x1.98db0ap-6f);
  q = fused(q, c, -0x1.f878c6p-5f);
  q = fused(q, c, 0x1.0fb886p-3f);
  q = fused(q, c, -0x1.ffe4bap-3f);
  q = fused(q, c, 0x1.9883e0p-1f);
  q = fused(q, c, -0x1.fffffep-2f);
  const float bell = power_of_two_near(c * c, -0x1.715476p-1f, 0.0f, power_of_fraction);
  const float correction = a >= kGeluReach ? 0.0f : bell * q;
  return x < 0.0f ? -correction : 1.0f + correction;
}

DL_FN double normal_cdf(double x) { return 0.5 * (1.0 + ::erf(x * 0.70710678118654752440)); }
// Below -40 the result is the limit; the product would turn infinity into NaN.
DL_FN double gelu(double x) { return x < -40.0 ? -0.0 : x * normal_cdf(x); }
DL_FN double gelu_derivative(double x) {
  const double cdf = normal_cdf(x);
  const bool beyond = x < -40.0 || x > 40.0;
  return beyond ? cdf : cdf + x * ::exp(-0.5 * x * x) * 0.39894228040143267794;
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_VECTOR_GELU_H_
