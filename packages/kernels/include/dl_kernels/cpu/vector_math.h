// CPU: transcendental functions of floats that compilers can vectorize: no branches, no calls, no
// tables. Polynomials are our own weighted least-squares fits (Lawson's iteration) to the functions
// named next to them; errors are below 2 ulp unless noted.
#ifndef DL_KERNELS_CPU_VECTOR_MATH_H_
#define DL_KERNELS_CPU_VECTOR_MATH_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/float16.h"
#include "dl_kernels/math/for_float.h"

DL_KERNELS_BEGIN

namespace math {

DL_FN float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
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

// e^x = 2^power · (1 + rest), for x in [-104, 90].
struct Exponential {
  float rest;
  int32_t power;
};
DL_FN Exponential exponential(float x) {
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
  return {fused(p * r, r, r), n};
}

// e^x · 2^scale for a scale of 0 or -1.
DL_FN float scaled_exp(float x, int32_t scale) {
  // Beyond these bounds the result is 0 or infinity; NaN passes both tests. The 0 is a select:
  // rounding to a subnormal takes processors a hundred cycles, and softmax has many masked scores.
  const bool vanishes = x < -104.0f;
  x = vanishes ? 0.0f : x;
  x = x > 90.0f ? 90.0f : x;
  const Exponential e = exponential(x);
  // Two steps, so that neither power of two overflows and subnormal results round once.
  const int32_t n = e.power + scale, half = n >> 1;
  const float result = (e.rest + 1.0f) * power_of_two(half) * power_of_two(n - half);
  return vanishes ? 0.0f : result;
}

DL_FN float exp(float x) { return scaled_exp(x, 0); }

// e^x for x in [-87, 88]: between the smallest and the largest normal float.
DL_FN float exp_of_moderate(float x) {
  const Exponential e = exponential(x);
  const float scale = power_of_two(e.power);
  return fused(scale, e.rest, scale);
}

// e^x for x <= 0: below the smallest normal float, 0. NaN stays NaN.
DL_FN float exp_of_negative(float x) {
  const bool vanishes = x < -87.0f;
  const float result = exp_of_moderate(vanishes ? -87.0f : x);
  return vanishes ? 0.0f : result;
}
DL_FN double exp_of_negative(double x) { return std::exp(x); }

DL_FN float expm1(float x) {
  float c = x < -20.0f ? -20.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const Exponential e = exponential(c);
  // Half of the result: the power of two itself may overflow a float.
  const float scale = power_of_two(e.power - 1);
  return copy_sign(2.0f * fused(scale, e.rest, scale - 0.5f), x);  // for -0
}

// x = 2^exponent · (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)), for positive x; and
// log(1 + fraction) = fraction - fraction^2 / 2 + tail.
struct Logarithm {
  float exponent, fraction, tail;
};
DL_FN Logarithm logarithm(float x) {
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const uint32_t bits = bit_cast<uint32_t>(scaled);
  const int32_t n = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = bit_cast<float>(bits - (static_cast<uint32_t>(n) << 23));
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
  return {static_cast<float>(tiny ? n - 23 : n), f, p * f * f * f};
}
// The logarithm of zero, negative numbers, infinity and NaN.
DL_FN float log_special(float x, float result) {
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  result = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : result;
  return x < std::numeric_limits<float>::infinity() ? result : x;  // infinity and NaN
}

DL_FN float log(float x) {
  const Logarithm l = logarithm(x);
  float tail = fused(l.exponent, -2.12194440e-4f, l.tail);
  tail = fused(l.fraction * l.fraction, -0.5f, tail);
  return log_special(x, fused(l.exponent, 0.693359375f, l.fraction + tail));
}

// log(x) in another base: `factor` is 1 / log(base), `unit` is log_base(2), each in two parts.
DL_FN float log_in_base(float x, float factor, float factor_rest, float unit, float unit_rest) {
  const Logarithm l = logarithm(x);
  const float tail = fused(l.fraction * l.fraction, -0.5f, l.tail);
  float rest = fused(l.exponent, unit_rest, l.fraction * factor_rest);
  rest = fused(tail, factor, rest);
  rest = fused(l.fraction, factor, rest);
  return log_special(x, fused(l.exponent, unit, rest));
}
DL_FN float log2(float x) { return log_in_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f); }
DL_FN float log10(float x) {
  return log_in_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344000p-2f, 0x1.3509f8p-18f);
}

// x^y for x > 0 with special values: 2^(y · log2(x)) in double, whose rounding is far below
// float's.
DL_FN float positive_pow(float x, float y) {
  const double wide = static_cast<double>(x);  // normal, even if x is subnormal
  const BinaryLogarithm found = binary_logarithm<6>(wide);
  double log2 = found.exponent + found.half * 2.8853900817779268147;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  log2 = x == 0.0f ? -kInfinite : log2;
  log2 = wide == kInfinite ? kInfinite : log2;
  double z = static_cast<double>(y) * log2;
  // Beyond these bounds the result is 0 or infinity; NaN passes both tests.
  z = z < -160.0 ? -160.0 : z;
  z = z > 160.0 ? 160.0 : z;
  const double shifted = z + kRounding;
  const double r = (z - (shifted - kRounding)) * 0.69314718055994530942;
  return static_cast<float>(scaled_exp_series(shifted, r));
}

// pow with the special values of IEEE 754.
DL_FN float pow(float x, float y) {
  const float a = magnitude(x);
  float result = positive_pow(a, y);
  result = x != x || y != y ? x + y : result;
  // Every float from 2^24 on is an even integer; so is infinity for this purpose.
  const float half = y * 0.5f;
  const bool whole = std::floor(y) == y, odd = whole & (std::floor(half) != half);
  const bool negative = (bit_cast<uint32_t>(x) >> 31) != 0;
  result = negative & odd ? -result : result;
  const bool undefined = (x < 0.0f) & !whole & (a < std::numeric_limits<float>::infinity());
  result = undefined ? std::numeric_limits<float>::quiet_NaN() : result;
  const bool one = (y == 0.0f) | (x == 1.0f) | ((a == 1.0f) & (magnitude(y) > 0x1p127f));
  return one & !((a == 1.0f) & (x != 1.0f) & (y != y)) ? 1.0f : result;
}

DL_FN float log1p(float x) {
  // The rounding error of 1 + x is added back as a first-order term.
  const float u = 1.0f + x;
  const float lost = x - (u - 1.0f);
  const float result = log(u);
  const bool ordinary = u > 0.0f && u < std::numeric_limits<float>::infinity();
  return copy_sign(ordinary ? result + lost / u : result, x);  // for -0
}

// log(1 + u) for u in [0, 1].
DL_FN float log1p_of_fraction(float u) {
  float p = -0x1.b2f534p-9f;  // (log(1 + u) - u) / u^2
  p = fused(p, u, 0x1.4b0808p-6f);
  p = fused(p, u, -0x1.d862fap-5f);
  p = fused(p, u, 0x1.b579aep-4f);
  p = fused(p, u, -0x1.3a7a7cp-3f);
  p = fused(p, u, 0x1.935c9ep-3f);
  p = fused(p, u, -0x1.ff26e0p-3f);
  p = fused(p, u, 0x1.554df0p-2f);
  p = fused(p, u, -0x1.ffffd2p-2f);
  return fused(p * u, u, u);
}

DL_FN float tanh(float x) {
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
}

DL_FN float erf(float x) {
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
  const float large = copy_sign(1.0f - exp_of_moderate(-q), x);
  return a >= 0.921875f ? large : small;  // NaN takes `small`
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_VECTOR_MATH_H_
