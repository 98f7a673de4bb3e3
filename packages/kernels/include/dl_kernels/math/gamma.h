// Derivatives of log Γ, and the Hurwitz zeta function, in double. Definitions: NIST Digital Library
// of Mathematical Functions (DLMF), chapters 5 and 25.
#ifndef DL_KERNELS_MATH_GAMMA_H_
#define DL_KERNELS_MATH_GAMMA_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

inline constexpr double kPi = 3.14159265358979323846;

// For positive x: the recurrence up to 10, and from there the asymptotic series (DLMF 5.11.2).
DL_FN double digamma_positive(double x) {
  double moved = 0;
  for (; x < 10; x += 1) moved += 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 / x - series - moved;
}

// -infinity at 0, infinity at -0, NaN at the other poles; for negative x by reflection (DLMF
// 5.5.4).
DL_FN double digamma(double x) {
  if (x == 0) return std::copysign(HUGE_VAL, -x);
  if (x > 0 || std::isnan(x)) return std::isinf(x) ? x : digamma_positive(x);
  if (std::isinf(x)) return NAN;
  // tan(πx) from the distance to the nearest pole, which is exact.
  const double near = x - std::round(x);
  if (near == 0) return NAN;
  const double cotangent = std::fabs(near) == 0.5 ? 0 : kPi / std::tan(kPi * near);
  return digamma_positive(1 - x) - cotangent;
}

// Sum of (q + k)^-s for q > 0 and s > 1 by Euler-Maclaurin summation (generalizes DLMF 25.2.9).
DL_FN double zeta_positive(double s, double q) {
  if (std::isinf(q)) return 0;
  double sum = 0, at = q;
  for (int k = 0; k < 12 && (at < 12 || k == 0); ++k, at += 1) {
    const double term = std::pow(at, -s);
    sum += term;
    if (term == 0 || term < sum * 1e-18) return sum;
  }
  const double last = std::pow(at, -s);
  sum += last * at / (s - 1) + last / 2;
  // B(2j) / (2j)!.
  constexpr double kTerms[] = {
      8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
      -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
      1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
      -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  double factor = last * s / at;
  for (int j = 0; j < 12; ++j) {
    const double term = kTerms[j] * factor;
    sum += term;
    if (std::fabs(term) < std::fabs(sum) * 1e-17) break;
    factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (at * at);
  }
  return sum;
}

// For q < 0 the function is defined for integers s: the sum over all integers minus the sum beyond
// q. Infinity at the poles 0, -1, -2, ….
DL_FN double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return NAN;
  if (s == 1) return HUGE_VAL;
  if (q > 0) return std::isinf(s) ? (q < 1 ? HUGE_VAL : q == 1 ? 1 : 0) : zeta_positive(s, q);
  if (q == std::floor(q)) return std::isinf(q) ? NAN : HUGE_VAL;
  if (s != std::floor(s) || std::isinf(s)) return NAN;
  const double fraction = q - std::floor(q);
  const double sign = std::fmod(s, 2) == 0 ? 1 : -1;
  // A few terms are summed directly, without cancellation.
  if (q > -32) {
    double sum = 0, at = q;
    for (; at < 0; at += 1) sum += std::pow(at, -s);
    return sum + zeta_positive(s, fraction);
  }
  const double beyond = zeta_positive(s, 1 - fraction) - zeta_positive(s, 1 - q);
  return zeta_positive(s, fraction) + sign * beyond;
}

// The n-th derivative of digamma (DLMF 5.15.2 and 25.11.12).
DL_FN double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  const double order = static_cast<double>(n) + 1;
  const double sign = n % 2 == 0 ? -1 : 1;
  // n! overflows from 171 on.
  double factorial = n > 170 ? HUGE_VAL : 1;
  for (int64_t k = 2; k <= n && n <= 170; ++k) factorial *= static_cast<double>(k);
  return sign * factorial * zeta(order, x);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_GAMMA_H_
