// Exponential and logarithm in double for results that are rounded to float: relative errors are
// below 2^-36. They have no branches and call nothing, so that loops vectorize.
#ifndef DL_KERNELS_MATH_FOR_FLOAT_H_
#define DL_KERNELS_MATH_FOR_FLOAT_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/float16.h"

DL_KERNELS_BEGIN

namespace math {

// e^x. Beyond 200, where a float is 0 or infinity, it is that of 200; NaN stays NaN.
DL_FN double exp_for_float(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  // Adding 1.5·2^52 rounds to an integer and leaves it in the low bits.
  const double shifted = x * 1.4426950408889634074 + 6755399441055744.0;
  const double r = x - (shifted - 6755399441055744.0) * 0.69314718055994530942;
  // Taylor series: for |r| < 0.347 the first omitted term is below 2^-37.
  double q = 1.0 / 362880;
  q = q * r + 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 0.5;
  q = q * r + 1.0;
  q = q * r + 1.0;
  const uint64_t power = (bit_cast<uint64_t>(shifted) + 1023) << 52;
  return q * bit_cast<double>(power);
}

// log(x) for a normal or infinite x > 0, and for 0 and NaN; NaN below 0. log(m) = 2 atanh(s) by the
// first terms of its series, for |s| < 0.172.
template <int terms>
DL_FN double log_by_series(double x) {
  const uint64_t bits = bit_cast<uint64_t>(x);
  // x = 2^(n - 1024) · m with m in [sqrt(1/2), sqrt(2)).
  const uint64_t n = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;
  const double m = bit_cast<double>(bits - (n << 52) + (1024ull << 52));
  // ORed into the bits of 2^52, an integer becomes the fraction of a double.
  const double exponent = bit_cast<double>(n | 0x4330000000000000ull) - (4503599627370496.0 + 1024);
  const double s = (m - 1.0) / (m + 1.0), t = s * s;
  constexpr double kTerms[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                               1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  double p = kTerms[terms - 1];
  DL_UNROLL
  for (int k = terms - 2; k >= 0; --k) p = p * t + kTerms[k];
  double log = exponent * 0.69314718055994530942 + 2.0 * (s + s * t * p);
  log = x > 0.0 ? log : NAN;
  log = x == 0.0 ? -HUGE_VAL : log;
  return x == HUGE_VAL ? x : log;
}
DL_FN double log_for_float(double x) { return log_by_series<6>(x); }
// With the precision of double, for sums in which terms cancel.
DL_FN double precise_log(double x) { return log_by_series<10>(x); }

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_FOR_FLOAT_H_
