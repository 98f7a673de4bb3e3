// Orthogonal polynomials of degree n, in double. Definitions: NIST Digital Library of Mathematical
// Functions (DLMF), chapter 18.
//
// They are computed by their three-term recurrences. Chebyshev polynomials have closed forms, which
// take constant time for any degree; other kinds are NaN for degrees from kLargestDegree on.
#ifndef DL_KERNELS_MATH_ORTHOGONAL_POLYNOMIAL_H_
#define DL_KERNELS_MATH_ORTHOGONAL_POLYNOMIAL_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

inline constexpr double kByRecurrence = 64;
inline constexpr double kLargestDegree = 1048576;

// The four kinds differ in p1(x) = 2x - 1, 2x, 2x + 1, or x.
enum class Chebyshev { kFirst, kSecond, kThird, kFourth };

DL_FN Chebyshev mirrored(Chebyshev kind) {
  return kind == Chebyshev::kThird    ? Chebyshev::kFourth
         : kind == Chebyshev::kFourth ? Chebyshev::kThird
                                      : kind;
}

// For x >= 0 by angles: cos(nθ), sin((n + 1)θ) / sin θ, cos((n + 1/2)θ) / cos(θ/2) and sin((n +
// 1/2)θ) / sin(θ/2) for x = cos θ; hyperbolic functions for larger x.
DL_FN double chebyshev_by_angle(Chebyshev kind, double x, double n) {
  if (x == 1)
    return kind == Chebyshev::kSecond ? n + 1 : kind == Chebyshev::kFourth ? 2 * n + 1 : 1;
  const bool inside = x < 1;
  const double angle = inside ? std::acos(x) : std::acosh(x), half = angle / 2;
  if (kind == Chebyshev::kFirst) return inside ? std::cos(n * angle) : std::cosh(n * angle);
  if (kind == Chebyshev::kThird)
    return inside ? std::cos((2 * n + 1) * half) / std::cos(half)
                  : std::cosh((2 * n + 1) * half) / std::cosh(half);
  const double times = kind == Chebyshev::kSecond ? n + 1 : 2 * n + 1;
  const double base = kind == Chebyshev::kSecond ? angle : half;
  return inside ? std::sin(times * base) / std::sin(base)
                : std::sinh(times * base) / std::sinh(base);
}

// p[n] by p[k + 1] = step(k, p[k], p[k - 1]). After an overflow, the result is infinite with the
// sign of the first infinite term.
template <class Step>
DL_FN double by_recurrence(double n, double first, const Step& step) {
  if (n < 1) return 1;
  double before = 1, last = first;
  for (double k = 1; k < n; ++k) {
    const double next = step(k, last, before);
    if (std::isinf(next)) {
      const bool alternates = std::signbit(next) != std::signbit(last);
      return alternates && std::fmod(n - k, 2) == 0 ? -next : next;
    }
    before = last;
    last = next;
  }
  return last;
}

DL_FN double chebyshev_polynomial(Chebyshev kind, double x, double n) {
  if (n > kByRecurrence) {
    // By symmetry, which exchanges the third and the fourth kind.
    if (x >= 0) return chebyshev_by_angle(kind, x, n);
    const double value = chebyshev_by_angle(mirrored(kind), -x, n);
    return std::fmod(n, 2) != 0 ? -value : value;
  }
  const double first = kind == Chebyshev::kFirst    ? x
                       : kind == Chebyshev::kSecond ? 2 * x
                       : kind == Chebyshev::kThird  ? 2 * x - 1
                                                    : 2 * x + 1;
  return by_recurrence(n, first, [x](double, double p, double q) { return 2 * x * p - q; });
}

// The other polynomials, by recurrence only.
template <class Step>
DL_FN double polynomial(double n, double first, const Step& step) {
  return n < kLargestDegree ? by_recurrence(n, first, step) : NAN;
}

DL_FN double hermite_polynomial_h(double x, double n) {
  return polynomial(n, 2 * x, [x](double k, double p, double q) { return 2 * (x * p - k * q); });
}
DL_FN double hermite_polynomial_he(double x, double n) {
  return polynomial(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
DL_FN double laguerre_polynomial_l(double x, double n) {
  return polynomial(n, 1 - x, [x](double k, double p, double q) {
    return ((2 * k + 1 - x) * p - k * q) / (k + 1);
  });
}
DL_FN double legendre_polynomial_p(double x, double n) {
  return polynomial(
      n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_ORTHOGONAL_POLYNOMIAL_H_
