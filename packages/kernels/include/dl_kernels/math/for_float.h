// Exponential and logarithm in double for results that are rounded to float: relative errors are
// below 2^-36. They have no branches and call nothing, so that loops vectorize.
#ifndef DL_KERNELS_MATH_FOR_FLOAT_H_
#define DL_KERNELS_MATH_FOR_FLOAT_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/float16.h"

DL_KERNELS_BEGIN

namespace math {

// The polynomial with these coefficients, that of the highest power first.
template <int N>
DL_FN double polynomial(const double (&terms)[N], double x) {
  double sum = terms[0];
  DL_UNROLL
  for (int k = 1; k < N; ++k) sum = sum * x + terms[k];
  return sum;
}

// 2^`shifted` · e^r for |r| < 0.347, where `shifted` is an integer + 1.5·2^52, whose low bits are
// the integer. The first omitted term of the Taylor series is below 2^-37.
DL_FN double scaled_exp_series(double shifted, double r) {
  constexpr double kTerms[] = {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                               1.0 / 24,     1.0 / 6,     0.5,        1.0,       1.0};
  const uint64_t power = (bit_cast<uint64_t>(shifted) + 1023) << 52;
  return polynomial(kTerms, r) * bit_cast<double>(power);
}
inline constexpr double kRounding = 6755399441055744.0;  // 1.5·2^52

// e^x. Beyond 200, where a float is 0 or infinity, it is that of 200; NaN stays NaN.
DL_FN double exp_for_float(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double shifted = x * 1.4426950408889634074 + kRounding;
  return scaled_exp_series(shifted, x - (shifted - kRounding) * 0.69314718055994530942);
}

// x = 2^exponent · m with m in [sqrt(1/2), sqrt(2)), and log(m) / 2 = atanh(s) by the first terms
// of its series, for |s| < 0.172. For normal x > 0.
struct BinaryLogarithm {
  double exponent, half;
};
template <int terms>
DL_FN BinaryLogarithm binary_logarithm(double x) {
  constexpr double kTerms[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                               1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  const uint64_t bits = bit_cast<uint64_t>(x);
  const uint64_t n = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;
  const double m = bit_cast<double>(bits - (n << 52) + (1024ull << 52));
  // ORed into the bits of 2^52, an integer becomes the fraction of a double.
  const double exponent = bit_cast<double>(n | 0x4330000000000000ull) - (4503599627370496.0 + 1024);
  const double s = (m - 1.0) / (m + 1.0), t = s * s;
  double p = kTerms[10 - terms];
  DL_UNROLL
  for (int k = 11 - terms; k < 10; ++k) p = p * t + kTerms[k];
  return {exponent, s + s * t * p};
}

// log(x) for a normal or infinite x > 0, and for 0 and NaN; NaN below 0.
template <int terms>
DL_FN double log_by_series(double x) {
  const BinaryLogarithm found = binary_logarithm<terms>(x);
  double log = found.exponent * 0.69314718055994530942 + 2.0 * found.half;
  log = x > 0.0 ? log : NAN;
  log = x == 0.0 ? -HUGE_VAL : log;
  return x == HUGE_VAL ? x : log;
}
// The first omitted term is below 2^-39.
DL_FN double log_for_float(double x) { return log_by_series<6>(x); }
// With the precision of double, for sums in which terms cancel.
DL_FN double precise_log(double x) { return log_by_series<10>(x); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_FOR_FLOAT_H_
