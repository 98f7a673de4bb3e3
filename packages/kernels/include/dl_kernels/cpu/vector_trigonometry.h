// CPU: trigonometric and hyperbolic functions of floats in the style of vector_math.h: no branches,
// no calls. Errors are below 4 ulp.
#ifndef DL_KERNELS_CPU_VECTOR_TRIGONOMETRY_H_
#define DL_KERNELS_CPU_VECTOR_TRIGONOMETRY_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace math {

// Sine and cosine are computed in double, so that the float result is almost correctly rounded.
// They require |x| < kTrigonometricLimit: beyond it, the multiple of π/2 is not exact.
inline constexpr float kTrigonometricLimit = 0x1p22f;

// Sine and cosine of x - quadrant · π/2, with the multiple of π/2 nearest to x.
struct SineAndCosine {
  double sine, cosine;
  int64_t quadrant;
};
DL_FN SineAndCosine sine_and_cosine(float x) {
  const double wide = static_cast<double>(x);
  // Adding 1.5·2^52 rounds to an integer and leaves it in the low bits.
  const double shifted = wide * 0.63661977236758134308 + 6755399441055744.0;
  const int64_t n = bit_cast<int64_t>(shifted);
  const double rounded = shifted - 6755399441055744.0;
  double r = wide - rounded * 0x1.921fb54400000p+0;  // the product is exact
  r = r - rounded * 0x1.0b4611a626331p-34;
  const double t = r * r;
  // Taylor series: for |r| <= π/4 the first omitted term is below 2^-38 of the result.
  const double s =
      r +
      r * t * (-1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t * (1.0 / 362880 - t / 39916800))));
  const double c =
      1.0 +
      t * (-0.5 + t * (1.0 / 24 + t * (-1.0 / 720 +
                                       t * (1.0 / 40320 + t * (-1.0 / 3628800 + t / 479001600)))));
  return {s, c, n};
}

// sin(x + quarter · π/2) for |x| < kTrigonometricLimit. Only the argument reduction is done in
// double; sine and cosine of the remainder are one polynomial with either set of coefficients.
DL_FN float sine(float x, int32_t quarter) {
  // Adding 1.5·2^23 rounds to an integer and leaves it in the low bits.
  const float shifted = fused(x, 0x1.45f306p-1f, 12582912.0f);
  const uint32_t n = bit_cast<uint32_t>(shifted) + static_cast<uint32_t>(quarter);
  const double rounded = static_cast<double>(shifted - 12582912.0f);
  double rest = static_cast<double>(x) - rounded * 0x1.921fb54400000p+0;  // the product is exact
  rest = rest - rounded * 0x1.0b4611a626331p-34;
  const float r = static_cast<float>(rest), t = r * r;
  const bool odd = (n & 1u) != 0;
  // (sin(r) / r - 1) / r^2 and (cos(r) - 1) / r^2 in r^2 on |r| <= 0.8
  float p = odd ? 0x1.98f274p-16f : 0x1.6ca88ep-19f;
  p = fused(p, t, odd ? -0x1.6c0768p-10f : -0x1.a00ed4p-13f);
  p = fused(p, t, odd ? 0x1.55553cp-5f : 0x1.111108p-7f);
  p = fused(p, t, odd ? -0.5f : -0x1.555556p-3f);
  const float first = odd ? 1.0f : r;
  const float sum = fused(p, first * t, first);
  const float value = first == 0.0f ? first : sum;  // keeps -0
  return bit_cast<float>(bit_cast<uint32_t>(value) ^ (n & 2u) << 30);
}

// Compute both, for |x| < kTrigonometricLimit.
DL_FN void sine_and_cosine(float x, float* sine, float* cosine) {
  const SineAndCosine of = sine_and_cosine(x);
  const bool odd = (of.quadrant & 1) != 0;
  const double s = odd ? of.cosine : of.sine, c = odd ? of.sine : of.cosine;
  *sine = static_cast<float>((of.quadrant & 2) != 0 ? -s : s);
  *cosine = static_cast<float>(((of.quadrant + 1) & 2) != 0 ? -c : c);
}

DL_FN float tan(float x) {
  const SineAndCosine of = sine_and_cosine(x);
  const bool odd = (of.quadrant & 1) != 0;
  const double slope = (odd ? -of.cosine : of.sine) / (odd ? of.sine : of.cosine);
  return x == 0.0f ? x : static_cast<float>(slope);  // keeps -0
}

// atan(z) for z in [0, 1].
DL_FN float small_atan(float z) {
  const float t = z * z;
  float p = 0x1.298064p-10f;  // (atan(z) / z - 1) / z^2 in z^2
  p = fused(p, t, -0x1.e67332p-8f);
  p = fused(p, t, 0x1.74e7cap-6f);
  p = fused(p, t, -0x1.703388p-5f);
  p = fused(p, t, 0x1.14df40p-4f);
  p = fused(p, t, -0x1.693854p-4f);
  p = fused(p, t, 0x1.c50712p-4f);
  p = fused(p, t, -0x1.247504p-3f);
  p = fused(p, t, 0x1.9997fep-3f);
  p = fused(p, t, -0x1.555552p-2f);
  return fused(p * t, z, z);
}

DL_FN float atan(float x) {
  const float a = magnitude(x);
  const bool steep = a > 1.0f;
  const float angle = small_atan(steep ? 1.0f / a : a);
  // π/2 in two parts.
  const float rest = 0x1.921fb6p+0f - (angle + 0x1.777a5cp-25f);
  return copy_sign(steep ? rest : angle, x);
}

// The angle of the point (x, y), with the special values of IEEE 754: the diagonal of the quadrant
// if both are infinite; 0 or π, with the signs of the zeros, if both are 0.
DL_FN float atan2(float y, float x) {
  const float a = magnitude(y), b = magnitude(x);
  const bool steep = a > b;
  const float low = steep ? b : a, high = steep ? a : b;
  const float diagonal = high > 0.0f ? 1.0f : 0.0f;
  const float angle = small_atan(low == high ? diagonal : low / high);
  const float rest = 0x1.921fb6p+0f - (angle + 0x1.777a5cp-25f);
  const float right = steep ? rest : angle;
  const float left = 0x1.921fb6p+1f - (right + 0x1.777a5cp-24f);
  return copy_sign((bit_cast<uint32_t>(x) >> 31) != 0 ? left : right, y);
}

// asin(z) for z in [0, 1/2]; `t` is z squared, which callers have computed.
DL_FN float small_asin(float z, float t) {
  float p = 0x1.33d71cp-5f;  // (asin(z) / z - 1) / z^2 in z^2
  p = fused(p, t, 0x1.d7a7fep-7f);
  p = fused(p, t, 0x1.04ab00p-5f);
  p = fused(p, t, 0x1.6cabb6p-5f);
  p = fused(p, t, 0x1.333892p-4f);
  p = fused(p, t, 0x1.55554cp-3f);
  return fused(p * t, z, z);
}

DL_FN float asin(float x) {
  const float a = magnitude(x);
  const bool steep = a > 0.5f;
  // asin(a) = π/2 - 2 asin(sqrt((1 - a) / 2)).
  const float t = steep ? fused(a, -0.5f, 0.5f) : a * a;
  const float angle = small_asin(steep ? std::sqrt(t) : a, t);
  const float rest = 0x1.921fb6p+0f - (angle + angle + 0x1.777a5cp-25f);
  return copy_sign(steep ? rest : angle, x);
}

DL_FN float acos(float x) {
  const float a = magnitude(x);
  const bool steep = a > 0.5f;
  const float t = steep ? fused(a, -0.5f, 0.5f) : a * a;
  const float angle = small_asin(steep ? std::sqrt(t) : a, t);
  const float near_one = angle + angle;
  const float near_minus_one = 0x1.921fb6p+1f - (near_one + 0x1.777a5cp-24f);
  const float signed_angle = copy_sign(angle, x);
  const float between = 0x1.921fb6p+0f - (signed_angle + 0x1.777a5cp-25f);
  return steep ? (x < 0.0f ? near_minus_one : near_one) : between;
}

DL_FN float sinh(float x) {
  const float a = magnitude(x);
  const float e = expm1(a);
  const float small = 0.5f * (e + e / (e + 1.0f));
  return copy_sign(a < 10.0f ? small : scaled_exp(a, -1), x);
}

DL_FN float cosh(float x) {
  const float e = scaled_exp(magnitude(x), -1);
  return e + 0.25f / e;
}

DL_FN float asinh(float x) {
  const float a = magnitude(x);
  const float square = a * a;
  const float small = log1p(a + square / (1.0f + std::sqrt(square + 1.0f)));
  return copy_sign(a < 0x1p30f ? small : log(a) + 0x1.62e430p-1f, x);
}

DL_FN float acosh(float x) {
  const float t = x - 1.0f;
  const float small = log1p(t + std::sqrt(t * (t + 2.0f)));
  const float result = x < 0x1p30f ? small : log(x) + 0x1.62e430p-1f;
  return x < 1.0f ? std::numeric_limits<float>::quiet_NaN() : result;
}

DL_FN float atanh(float x) {
  const float a = magnitude(x);
  return copy_sign(0.5f * log1p(2.0f * a / (1.0f - a)), x);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_VECTOR_TRIGONOMETRY_H_
