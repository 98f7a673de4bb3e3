// log Γ and digamma of floats, in double without branches, so that loops vectorize. Definitions:
// NIST Digital Library of Mathematical Functions (DLMF), chapter 5.
#ifndef DL_KERNELS_MATH_GAMMA_FOR_FLOAT_H_
#define DL_KERNELS_MATH_GAMMA_FOR_FLOAT_H_

#include <cmath>

#include "dl_kernels/math/for_float.h"

DL_KERNELS_BEGIN

namespace math {

// sin(πx) for |x| <= 1/2 by its Taylor series; the first omitted term is below 2^-55.
DL_FN double sine_of_pi(double x) {
  const double y = x * 3.14159265358979323846, square = y * y;
  constexpr double kTerms[] = {-1.0 / 51090942171709440000.0,
                               1.0 / 121645100408832000.0,
                               -1.0 / 355687428096000.0,
                               1.0 / 1307674368000.0,
                               -1.0 / 6227020800.0,
                               1.0 / 39916800.0,
                               -1.0 / 362880.0,
                               1.0 / 5040.0,
                               -1.0 / 120.0,
                               1.0 / 6.0};
  return y - y * square * polynomial(kTerms, square);
}

// An argument x > 0 moved up to 8 or more, where asymptotic series are short: Γ(x) = Γ(at) /
// product, and `slope` / `product` is the sum of the 1 / (x + k).
struct Moved {
  double at, product, slope;
};
DL_FN Moved moved_up(double x) {
  double product = x, slope = 1;
  DL_UNROLL
  for (int k = 1; k <= 7; ++k) {
    slope = slope * (x + k) + product;
    product *= x + k;
  }
  const bool is_small = x < 8;
  return {is_small ? x + 8 : x, is_small ? product : 1.0, is_small ? slope : 0.0};
}

// log |Γ(x)|. Its zeros need care: around 1 and 2 it is a power series in the distance (DLMF
// 5.7.3); those of negative numbers, which are reflected (DLMF 5.5.3), are simple, so that errors
// of double's precision do not matter.
DL_FN float lgamma(float given) {
  constexpr double kLogPi = 1.14472988584940017414, kHalfLogTwoPi = 0.91893853320467274178;
  constexpr double kOneLessEuler = 0.42278433509846713939;
  const double x = static_cast<double>(given);
  const bool is_negative = x < 0.5, is_near = (x >= 0.5) & (x <= 2.5), is_first = x < 1.5;
  const double positive = is_negative ? 1 - x : x;
  const Moved moved = moved_up(positive);
  const double nearest = std::round(x);
  const double sine = std::fabs(sine_of_pi(x - nearest));
  const double inside = is_near ? x : moved.product / (is_negative ? sine : 1.0);
  const double inner = precise_log(inside);
  // Stirling's formula (DLMF 5.11.1); the first omitted term is below 2^-44.
  const double w = moved.at, inverse = 1 / w, square = inverse * inverse;
  constexpr double kStirling[] = {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                                  1.0 / 1260,      -1.0 / 360, 1.0 / 12};
  const double series = polynomial(kStirling, square);
  const double stirling = (w - 0.5) * precise_log(w) - w + kHalfLogTwoPi + series * inverse;
  // (-1)^k (ζ(k) - 1) / k from k = 18 down to 2.
  constexpr double kTerms[] = {
      2.12071848055546659e-7,   -4.49246919876456604e-7,   9.55141213040741983e-7,
      -2.03921575380136624e-6,  4.3748667899074878e-6,     -9.4394882752683959e-6,
      0.0000205072127756706916, -0.0000449262367381331417, 0.0000994575127818085337,
      -0.00022315475845357938,  0.000509669524743042422,   -0.00119275391170326098,
      0.00289051033074152329,   -0.00738555102867398527,   0.0205808084277845479,
      -0.0673523010531980951,   0.322467033424113218};
  const double distance = x - (is_first ? 1.0 : 2.0);
  const double near = distance * (kOneLessEuler + distance * polynomial(kTerms, distance)) -
                      (is_first ? inner : 0.0);
  const double away = is_negative ? kLogPi + inner - stirling : stirling - inner;
  double value = is_near ? near : away;
  // The poles; numbers beyond 2^23 in size are integers.
  value = (x <= 0) & (x == nearest) ? HUGE_VAL : value;
  return static_cast<float>(std::fabs(x) == HUGE_VAL ? HUGE_VAL : value);
}

// Infinity of the opposite sign at 0 and -0, and NaN at the other poles; for negative x by
// reflection (DLMF 5.5.4).
DL_FN float digamma(float given) {
  constexpr double kPi = 3.14159265358979323846;
  const double x = static_cast<double>(given);
  const bool is_negative = x < 0;
  const Moved moved = moved_up(is_negative ? 1 - x : x);
  // DLMF 5.11.2; the first omitted term is below 2^-43.
  const double w = moved.at, inverse = 1 / w, square = inverse * inverse;
  constexpr double kTerms[] = {-691.0 / 32760, 1.0 / 132,  -1.0 / 240,
                               1.0 / 252,      -1.0 / 120, 1.0 / 12};
  const double series = polynomial(kTerms, square);
  const double positive =
      precise_log(w) - 0.5 * inverse - series * square - moved.slope / moved.product;
  // π / tan(πx) from the distance to the nearest pole, which is exact.
  const double distance = x - std::round(x);
  const double sine = sine_of_pi(distance), cosine = sine_of_pi(0.5 - std::fabs(distance));
  const double pole = distance == 0 ? NAN : positive - kPi * cosine / sine;
  double value = is_negative ? pole : positive;
  value = x == 0 ? -std::copysign(HUGE_VAL, x) : value;
  value = x == HUGE_VAL ? HUGE_VAL : value;
  return static_cast<float>(x == -HUGE_VAL ? static_cast<double>(NAN) : value);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_GAMMA_FOR_FLOAT_H_
