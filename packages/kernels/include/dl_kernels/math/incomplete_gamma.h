// The regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), in double.
// Definitions: NIST Digital Library of Mathematical Functions (DLMF), chapter 8.
#ifndef DL_KERNELS_MATH_INCOMPLETE_GAMMA_H_
#define DL_KERNELS_MATH_INCOMPLETE_GAMMA_H_

#include <cmath>

#include "dl_kernels/math/for_float.h"

DL_KERNELS_BEGIN

namespace math {

// m - log(1 + m) for m = x / a - 1, without cancellation near 0: the logarithm is twice the inverse
// hyperbolic tangent of s = m / (2 + m), and m - 2 s = m s.
DL_FN double relative_excess(double a, double x) {
  const double m = (x - a) / a;
  if (!(std::fabs(m) < 0.4)) return m - std::log(x / a);
  const double s = m / (2 + m), square = s * s;
  double sum = 0;
  for (int k = 35; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
  return m * s - 2 * s * square * sum;
}

// log Γ(1 + a) for 0 <= a <= 1/2, relative to a (DLMF 5.7.3).
DL_FN double log_gamma_1p(double a) {
  constexpr double kOneLessEuler = 0.42278433509846713939;
  // (-1)^k (ζ(k) - 1) / k from k = 2 on.
  constexpr double kTerms[] = {
      0.322467033424113218,      -0.0673523010531980951,   0.0205808084277845479,
      -0.00738555102867398527,   0.00289051033074152329,   -0.00119275391170326098,
      0.000509669524743042422,   -0.00022315475845357938,  0.0000994575127818085337,
      -0.0000449262367381331417, 0.0000205072127756706916, -9.4394882752683959e-6,
      4.3748667899074878e-6,     -2.03921575380136624e-6,  9.55141213040741983e-7,
      -4.49246919876456604e-7,   2.12071848055546659e-7,   -1.00432248239680996e-7,
      4.76981016936398057e-8,    -2.27110946089431649e-8,  1.08386592148969541e-8,
      -5.18347504197004666e-9,   2.48367454380247832e-9,   -1.19214014058609121e-9,
      5.73136724167886201e-10,   -2.75952288512423315e-10, 1.33047643742444895e-10,
      -6.42296456383810002e-11};
  double sum = 0;
  for (int k = sizeof(kTerms) / sizeof(kTerms[0]) - 1; k >= 0; --k) sum = sum * a + kTerms[k];
  return a * kOneLessEuler - std::log1p(a) + a * a * sum;
}

// log Γ(1 + a) for 0 <= a < 12, with an error of 2e-10: moved up by eight, to Stirling's formula.
DL_FN double log_gamma_1p_for_float(double a) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  double product = a + 1;
  for (int k = 2; k <= 8; ++k) product *= a + k;
  const double w = a + 9, inverse = 1 / w, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1260));
  return (w - 0.5) * log_for_float(w) - w + kHalfLogTwoPi + series - log_for_float(product);
}

// x^a exp(-x) / Γ(a + 1). For larger a by Stirling's formula, in which large terms cancel
// analytically.
template <bool for_float>
DL_FN double gamma_density(double a, double x) {
  constexpr double kTwoPi = 6.28318530717958647693;
  if (a < 12) {
    if (x > 1000) return 0;
    if constexpr (for_float)
      return exp_for_float(a * log_for_float(x) - x - log_gamma_1p_for_float(a));
    const double half = std::exp(-x / 2);
    return half * std::pow(x, a) / std::tgamma(a + 1) * half;
  }
  const double z = 1 / (a * a);
  const double series =
      (1.0 / 12 -
       z * (1.0 / 360 -
            z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360))))) /
      a;
  return std::exp(-a * relative_excess(a, x) - series) / std::sqrt(kTwoPi * a);
}

// P by its power series (DLMF 8.11.4), for x up to about a.
template <bool for_float>
DL_FN double gamma_p_series(double a, double x) {
  constexpr double kSmallest = for_float ? 1e-11 : 1e-17;
  if (for_float && a < 12) {
    // Over a common denominator: a chain of divisions takes three times as long.
    double power = 1, numerator = 1, denominator = 1;
    for (double n = 1; power > numerator * kSmallest; ++n) {
      power *= x;
      numerator = numerator * (a + n) + power;
      denominator *= a + n;
    }
    return gamma_density<for_float>(a, x) * numerator / denominator;
  }
  double term = 1, sum = 1;
  for (double n = 1; term > sum * kSmallest; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return gamma_density<for_float>(a, x) * sum;
}

// Q by its continued fraction (DLMF 8.9.2), for x from about a on. For small a, a fixed number of
// terms, enough for x >= 1, is added from the last to the first; otherwise Lentz' method is used.
template <bool for_float>
DL_FN double gamma_q_fraction(double a, double x) {
  if (a < 12) {
    if constexpr (for_float) {
      // Forward, without divisions: numbers stay far below overflow.
      const int count = 10 + static_cast<int>(35 / x);
      double above = x + 1 - a, above_before = 1, below = 1, below_before = 0;
      for (int n = 1; n <= count; ++n) {
        const double partial = x + (2 * n + 1) - a, factor = n * (a - n);
        const double next = partial * above + factor * above_before;
        above_before = above;
        above = next;
        const double other = partial * below + factor * below_before;
        below_before = below;
        below = other;
      }
      return gamma_density<for_float>(a, x) * a * below / above;
    }
    const int count = 16 + static_cast<int>(90 / x);
    double rest = x + 2 * count + 1 - a;
    for (int n = count; n > 0; --n) rest = x + (2 * n - 1) - a + n * (a - n) / rest;
    return gamma_density<for_float>(a, x) * a / rest;
  }
  constexpr double kTiny = 1e-300;
  constexpr int kMost = 20000;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / (b == 0 ? kTiny : b), value = d;
  for (int n = 1; n < kMost; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    value *= d * c;
    if (std::fabs(d * c - 1) < (for_float ? 1e-10 : 1e-16)) break;
  }
  return gamma_density<for_float>(a, x) * a * value;
}

// Q for small a and x, where 1 - P would cancel and the continued fraction converges slowly
// (DLMF 8.7.3).
DL_FN double gamma_q_small(double a, double x) {
  double power = 1, sum = 0;
  for (int n = 1; n < 30; ++n) {
    power *= -x / n;
    sum += power / (a + n);
  }
  const double log_gamma = a <= 0.5 ? log_gamma_1p(a) : std::log(std::tgamma(1 + a));
  const double exponent = a * std::log(x) - log_gamma;
  return -std::expm1(exponent) - a * std::exp(exponent) * sum;
}

// For a so large that a few terms of the uniform asymptotic expansion suffice (DLMF 8.12; Temme,
// The asymptotic expansion of the incomplete gamma functions, 1979). Where P and Q differ from 0
// and 1, η is small.
DL_FN double gamma_large(double a, double x, bool upper) {
  constexpr double kTwoPi = 6.28318530717958647693;
  const double excess = relative_excess(a, x);
  if (!(a * excess < 745)) return (x > a) == upper ? 0 : 1;
  const double eta = std::copysign(std::sqrt(2 * excess), x - a);
  constexpr double kFirst[] = {-1.0 / 3,
                               1.0 / 12,
                               -2.0 / 135,
                               1.0 / 864,
                               1.0 / 2835,
                               -139.0 / 777600,
                               1.0 / 25515,
                               -2.1854485106799921615e-06,
                               -1.8540622107151599607e-06};
  constexpr double kSecond[] = {-1.0 / 540, -1.0 / 288, 25.0 / 12096, -9.9022633744855967e-04};
  double first = 0, second = 0;
  for (int k = 8; k >= 0; --k) first = first * eta + kFirst[k];
  for (int k = 3; k >= 0; --k) second = second * eta + kSecond[k];
  const double rest = std::exp(-a * excess) / std::sqrt(kTwoPi * a) * (first + second / a);
  const double side = upper ? eta : -eta;
  return std::erfc(side * std::sqrt(a / 2)) / 2 + (upper ? rest : -rest);
}

// P, or Q if `upper`; for results that are rounded to float with errors below 1e-9. At a = 0, P is
// 1, except at (0, 0), where it is undefined; infinite arguments give the limits.
template <bool for_float>
DL_FN double incomplete_gamma(double a, double x, bool upper) {
  constexpr double kLarge = 1e6;
  // Up to here the series are more precise than the fraction, whose length grows with 1 / x.
  constexpr double kSmallX = 1;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return NAN;
  if (std::isinf(a) || x == 0) return upper ? 1 : 0;
  if (std::isinf(x) || a == 0) return upper ? 0 : 1;
  if (a >= kLarge) return gamma_large(a, x, upper);
  if (upper && a < 1.5 && x < kSmallX) return gamma_q_small(a, x);
  // The series of P is the faster one for small x; for Q it would cancel.
  const bool is_short = for_float && !upper && a < 12 && x < 5;
  if (x < kSmallX || x <= a || is_short) {
    const double p = gamma_p_series<for_float>(a, x);
    return upper ? 1 - p : p;
  }
  const double q = gamma_q_fraction<for_float>(a, x);
  return upper ? q : 1 - q;
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_INCOMPLETE_GAMMA_H_
