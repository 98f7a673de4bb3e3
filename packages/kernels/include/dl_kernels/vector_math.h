// Transcendental functions that compilers can vectorise: no branches, no calls, no tables. Only
// float has them; double goes to the C library. Polynomials are weighted least-squares fits
// (Lawson) of our own to the functions named at each one; errors are below 2 ulp unless noted.
#ifndef DL_KERNELS_VECTOR_MATH_H_
#define DL_KERNELS_VECTOR_MATH_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/config.h"
#include "dl_kernels/float16.h"

DL_KERNELS_BEGIN

namespace math {

DL_FN float fused(float a, float b, float c) {
#if DL_KERNELS_GPU
  return ::fmaf(a, b, c);
#elif defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;  // without the instruction, fmaf would be a call
#endif
}

DL_FN float copy_sign(float magnitude, float sign) {
  return bit_cast<float>((bit_cast<uint32_t>(magnitude) & 0x7fffffffu) |
                         (bit_cast<uint32_t>(sign) & 0x80000000u));
}

DL_FN float magnitude(float x) { return bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu); }

// 2^n for n in [-126, 127].
DL_FN float power_of_two(int32_t n) {
  return bit_cast<float>(static_cast<uint32_t>(n + 127) << 23);
}

DL_FN float exp(float x) {
#if DL_KERNELS_GPU
  return ::expf(x);
#else
  // Beyond these the result is 0 or infinity; NaN passes both tests.
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  // Adding 1.5·2^23 rounds to an integer and leaves it in the low bits.
  const float shifted = fused(x, 0x1.715476p+0f, 12582912.0f);
  const int32_t n = bit_cast<int32_t>(shifted) - 0x4b400000;
  const float rounded = shifted - 12582912.0f;
  float r = fused(rounded, -0x1.62e400p-1f, x);
  r = fused(rounded, -0x1.7f7d1cp-20f, r);
  float p = 0x1.6dbc68p-10f;  // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
  p = fused(p, r, 0x1.124148p-7f);
  p = fused(p, r, 0x1.555454p-5f);
  p = fused(p, r, 0x1.555486p-3f);
  p = fused(p, r, 0.5f);
  p = fused(p * r, r, r) + 1.0f;
  // Two steps, so that neither power of two overflows and subnormal results round once.
  const int32_t half = n >> 1;
  return p * power_of_two(half) * power_of_two(n - half);
#endif
}

DL_FN float log(float x) {
#if DL_KERNELS_GPU
  return ::logf(x);
#else
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const uint32_t bits = bit_cast<uint32_t>(scaled);
  // x = 2^n · m with m in [sqrt(1/2), sqrt(2)).
  const int32_t n = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = bit_cast<float>(bits - (static_cast<uint32_t>(n) << 23));
  const float exponent = static_cast<float>(tiny ? n - 23 : n);
  const float f = m - 1.0f;
  float p = 0x1.1457a2p-4f;  // (log(1 + f) - f + f^2 / 2) / f^3
  p = fused(p, f, -0x1.de3c14p-4f);
  p = fused(p, f, 0x1.e6f06cp-4f);
  p = fused(p, f, -0x1.fc2208p-4f);
  p = fused(p, f, 0x1.233768p-3f);
  p = fused(p, f, -0x1.555c4ep-3f);
  p = fused(p, f, 0x1.99a4b6p-3f);
  p = fused(p, f, -0x1.000006p-2f);
  p = fused(p, f, 0x1.555548p-2f);
  const float square = f * f;
  float tail = fused(p * square, f, exponent * -2.12194440e-4f);
  tail = fused(square, -0.5f, tail);
  float result = fused(exponent, 0.693359375f, f + tail);
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  result = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : result;
  return x < std::numeric_limits<float>::infinity() ? result : x;  // infinity and NaN
#endif
}

DL_FN float tanh(float x) {
#if DL_KERNELS_GPU
  return ::tanhf(x);
#else
  const float a = magnitude(x);
  const float t = x * x;
  float p = -0x1.6a5312p-8f;  // (tanh(x) / x - 1) / x^2 in x^2
  p = fused(p, t, 0x1.4f9940p-6f);
  p = fused(p, t, -0x1.b7da50p-5f);
  p = fused(p, t, 0x1.11044ep-3f);
  p = fused(p, t, -0x1.555526p-2f);
  const float small = fused(p * t, x, x);
  const float large = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return copy_sign(a < 0.625f ? small : large, x);
#endif
}

DL_FN float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

DL_FN float erf(float x) {
#if DL_KERNELS_GPU
  return ::erff(x);
#else
  const float a = magnitude(x);
  const float t = x * x;
  float p = 0x1.5e352ep-14f;  // erf(x) / x - 1 in x^2
  p = fused(p, t, -0x1.aaa868p-11f);
  p = fused(p, t, 0x1.54d3aap-8f);
  p = fused(p, t, -0x1.b80fc2p-6f);
  p = fused(p, t, 0x1.ce2e18p-4f);
  p = fused(p, t, -0x1.812744p-2f);
  p = fused(p, t, 0x1.06eba8p-3f);
  const float small = fused(p, x, x);
  const float c = a < 4.0f ? a : 4.0f;  // erf(4) rounds to 1
  float q = 0x1.5ecd7ap-16f;            // -log(1 - erf(a)) on [0.9, 4]
  q = fused(q, c, -0x1.c54d32p-12f);
  q = fused(q, c, 0x1.10a9fcp-8f);
  q = fused(q, c, -0x1.9b1952p-6f);
  q = fused(q, c, 0x1.bb564ep-4f);
  q = fused(q, c, 0x1.444b42p-1f);
  q = fused(q, c, 0x1.212698p+0f);
  q = fused(q, c, -0x1.65abc6p-13f);
  const float large = copy_sign(1.0f - exp(-q), x);
  return a >= 0.921875f ? large : small;  // NaN takes `small`
#endif
}

// Sine and cosine in double, which leaves a float result rounded almost correctly. For |x| <
// kTrigonometricLimit: beyond it the multiple of π/2 is no longer exact.
inline constexpr float kTrigonometricLimit = 0x1p22f;

// sin(x + quarter · π/2).
DL_FN float sine(float x, int64_t quarter) {
  const double wide = static_cast<double>(x);
  // Adding 1.5·2^52 rounds to an integer and leaves it in the low bits.
  const double shifted = wide * 0.63661977236758134308 + 6755399441055744.0;
  const int64_t n = bit_cast<int64_t>(shifted) + quarter;
  const double rounded = shifted - 6755399441055744.0;
  double r = wide - rounded * 0x1.921fb54400000p+0;  // the product is exact
  r = r - rounded * 0x1.0b4611a626331p-34;
  const double t = r * r;
  // Taylor's series: on |r| <= π/4 the first term left out is below 2^-38 of the result.
  const double s =
      r +
      r * t * (-1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t * (1.0 / 362880 - t / 39916800))));
  const double c =
      1.0 +
      t * (-0.5 + t * (1.0 / 24 + t * (-1.0 / 720 +
                                       t * (1.0 / 40320 + t * (-1.0 / 3628800 + t / 479001600)))));
  const double value = (n & 1) != 0 ? c : s;
  return static_cast<float>((n & 2) != 0 ? -value : value);
}

DL_FN double exp(double x) { return ::exp(x); }
DL_FN double log(double x) { return ::log(x); }
DL_FN double tanh(double x) { return ::tanh(x); }
DL_FN double sigmoid(double x) { return 1.0 / (1.0 + ::exp(-x)); }
DL_FN double erf(double x) { return ::erf(x); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_VECTOR_MATH_H_
