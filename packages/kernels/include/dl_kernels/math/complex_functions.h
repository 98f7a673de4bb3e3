// Elementary complex functions, computed in double for both complex dtypes: squares of complex64
// parts then cannot overflow or underflow. Branch cuts and infinities follow C's Annex G. The
// formulas by real and imaginary part are the usual ones, arranged to avoid cancellation.
#ifndef DL_KERNELS_MATH_COMPLEX_FUNCTIONS_H_
#define DL_KERNELS_MATH_COMPLEX_FUNCTIONS_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/math/complex_arithmetic.h"

DL_KERNELS_BEGIN

// The last ones are their hyperbolic counterparts rotated by a quarter turn: sin z = -i · sinh(i ·
// z).
enum class ComplexFunction : int32_t {
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSgn,
  kExp,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSigmoid,
  kAcos,
  kAcosh,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAtanh,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAtan,
};

namespace math {

using Wide = Complex<double>;

DL_FN bool is_finite(Wide z) { return std::isfinite(z.re) && std::isfinite(z.im); }
DL_FN double larger_part(Wide z) { return std::fmax(std::fabs(z.re), std::fabs(z.im)); }
DL_FN Wide scaled(Wide z, int exponent) {
  return {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)};
}

// a · b + c · d as if rounded once, so that two equal products cancel exactly. This is Kahan's
// method with fma (Jeannerod, Louvet and Muller, Further analysis of Kahan's algorithm for 2 × 2
// determinants, 2013).
DL_FN double sum_of_products(double a, double b, double c, double d) {
  const double product = c * d, lost = std::fma(c, d, -product), sum = std::fma(a, b, product);
  // Adding a zero could change the sign of a zero sum, and the error of an infinite product is NaN.
  return lost != 0 && std::isfinite(lost) ? sum + lost : sum;
}

// Return true if squares of the parts, and products of four such numbers, neither overflow nor
// underflow.
DL_FN bool has_middle_exponent(double size) { return size > 0x1p-240 && size < 0x1p240; }

DL_FN Wide quotient(Wide a, Wide b) {
  const double size = larger_part(b);
  if (!(is_finite(a) && is_finite(b)) || size == 0) {
    // The same formula as in NumPy and PyTorch, for the same infinities and NaNs.
    const double re = std::fabs(b.re), im = std::fabs(b.im);
    if (re == 0 && im == 0) return {a.re / re, a.im / im};
    if (re >= im) {
      const double ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const double ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  const double over = larger_part(a);
  int exponent = 0;
  if (!has_middle_exponent(size)) {
    const int by = std::ilogb(size);
    b = scaled(b, -by);
    exponent -= by;
  }
  if (!has_middle_exponent(over) && over != 0) {
    const int by = std::ilogb(over);
    a = scaled(a, -by);
    exponent += by;
  }
  const double square = sum_of_products(b.re, b.re, b.im, b.im);
  const Wide result{sum_of_products(a.re, b.re, a.im, b.im) / square,
                    sum_of_products(a.im, b.re, -a.re, b.im) / square};
  return exponent == 0 ? result : scaled(result, exponent);
}

// weight · e^x · factor, also where e^x alone overflows, and for the smallest factors.
DL_FN double exp_times(double x, double factor, double weight = 1) {
  const double half = std::exp(0.5 * x);
  return weight * half * factor * half;
}

DL_FN Wide exp(Wide z) {
  if (z.im == 0) return {std::exp(z.re), z.im};
  if (std::isinf(z.re) && !std::isfinite(z.im))
    return z.re < 0 ? Wide{0, 0} : Wide{z.re, z.im - z.im};
  if (std::fabs(z.re) < 700) {
    const double size = std::exp(z.re);
    return {size * std::cos(z.im), size * std::sin(z.im)};
  }
  return {exp_times(z.re, std::cos(z.im)), exp_times(z.re, std::sin(z.im))};
}

DL_FN Wide expm1(Wide z) {
  if (is_finite(z) && z.re > 40) {
    const Wide value = exp(z);
    return {value.re - 1, value.im};
  }
  // e^x cos y - 1; where the two terms nearly cancel, the imaginary part is larger. An infinite
  // power times a sine of 0 is NaN, as in NumPy and PyTorch.
  const double sine = std::sin(0.5 * z.im), cosine = std::cos(z.im);
  return {std::expm1(z.re) * cosine - 2 * sine * sine,
          z.im == 0 && is_finite(z) ? z.im : std::exp(z.re) * std::sin(z.im)};
}

// log |z|, with a small relative error wherever the angle of z is not larger.
DL_FN double log_of_size(Wide z) {
  const double x = std::fabs(z.re), y = std::fabs(z.im);
  const double large = x > y ? x : y, small = x > y ? y : x;
  if (large > 0.5 && large < 2 && small < 2)
    return 0.5 * std::log1p((large - 1) * (large + 1) + small * small);
  if (is_finite(z) && large != 0 && !has_middle_exponent(large)) {
    const int by = std::ilogb(large);
    return std::log(std::hypot(std::ldexp(x, -by), std::ldexp(y, -by))) +
           by * 0.69314718055994530942;
  }
  return std::log(std::hypot(x, y));
}

DL_FN Wide log(Wide z) { return {log_of_size(z), std::atan2(z.im, z.re)}; }

DL_FN Wide log1p(Wide z) {
  const double x = z.re, y = z.im;
  if (x == 0 && y == 0) return z;
  if (!(larger_part(z) < 0.5)) return log({1 + x, y});
  return {0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
}

DL_FN Wide sqrt(Wide z) {
  const double x = z.re, y = z.im;
  if (x == 0 && y == 0) return {0, y};
  if (std::isinf(y)) return {HUGE_VAL, y};
  if (std::isnan(x)) return {x, x};
  if (std::isinf(x)) {
    const double lost = y - y;  // nan for nan
    return x > 0 ? Wide{x, std::isnan(y) ? y : std::copysign(0.0, y)}
                 : Wide{std::fabs(lost), std::copysign(x, y)};
  }
  if (std::isnan(y)) return {y, y};
  const double size = larger_part(z);
  // Scale by an even power of two; half of the exponent is undone after the root.
  const int half = has_middle_exponent(size) ? 0 : std::ilogb(size) / 2;
  const double a = half == 0 ? std::fabs(x) : std::ldexp(std::fabs(x), -2 * half),
               b = half == 0 ? y : std::ldexp(y, -2 * half);
  const double root = std::sqrt(0.5 * (a + std::hypot(a, b))), other = 0.5 * b / root;
  const Wide result = x >= 0 ? Wide{root, other} : Wide{std::fabs(other), std::copysign(root, b)};
  return half == 0 ? result : scaled(result, half);
}

DL_FN Wide sinh(Wide z) {
  const double x = z.re, y = z.im;
  if (y == 0) return {std::sinh(x), y};
  if (x == 0) return {std::isfinite(y) ? x * std::cos(y) : x, std::sin(y)};
  if (std::isinf(x) && !std::isfinite(y)) return {std::fabs(x), y - y};
  if (!(std::fabs(x) >= 700)) return {std::sinh(x) * std::cos(y), std::cosh(x) * std::sin(y)};
  return {exp_times(std::fabs(x), std::cos(y), std::copysign(0.5, x)),
          exp_times(std::fabs(x), std::sin(y), 0.5)};
}

DL_FN Wide cosh(Wide z) {
  const double x = z.re, y = z.im;
  if (y == 0) return {std::cosh(x), std::isnan(x) ? y : std::copysign(0.0, x) * y};
  if (x == 0) return {std::cos(y), x * (std::isfinite(y) ? std::sin(y) : 1)};
  if (std::isinf(x) && !std::isfinite(y)) return {std::fabs(x), y - y};
  if (!(std::fabs(x) >= 700)) return {std::cosh(x) * std::cos(y), std::sinh(x) * std::sin(y)};
  return {exp_times(std::fabs(x), std::cos(y), 0.5),
          exp_times(std::fabs(x), std::sin(y), std::copysign(0.5, x))};
}

DL_FN Wide tanh(Wide z) {
  const double x = z.re, y = z.im;
  if (!std::isfinite(y)) {
    if (std::isinf(x)) return {std::copysign(1.0, x), std::copysign(0.0, y)};
    return {x == 0 ? x : y - y, y - y};
  }
  if (y == 0) return {std::tanh(x), y};
  if (std::fabs(x) > 22) {
    // 4 e^-2|x| sin y cos y; compared with it, the real part is 1.
    const double decay = std::exp(-std::fabs(x));
    return {std::copysign(1.0, x), 4 * std::sin(y) * std::cos(y) * decay * decay};
  }
  const double t = std::tan(y), s = std::sinh(x), secant = 1 + t * t;
  const double below = 1 + secant * s * s;
  return {secant * std::sqrt(1 + s * s) * s / below, t / below};
}

// Return true if 1 is negligible compared with z². Nearer finite numbers give no NaN.
DL_FN bool is_far(Wide z) { return !(std::fabs(z.re) < 0x1p30 && std::fabs(z.im) < 0x1p30); }

DL_FN Wide asinh(Wide z) {
  const double x = z.re, y = z.im;
  if (is_far(z)) {
    const double size = log_of_size(z) + 0.69314718055994530942;
    return {std::copysign(size, x), y == 0 ? y : std::atan2(y, std::fabs(x))};
  }
  // From the square roots of 1 - i z and 1 + i z.
  const Wide p = sqrt({1 + y, -x}), q = sqrt({1 - y, x});
  return {std::asinh(q.im * p.re - p.im * q.re), std::atan2(y, p.re * q.re - p.im * q.im)};
}

DL_FN Wide acos(Wide z) {
  const double x = z.re, y = z.im;
  if (is_far(z)) {
    const double size = log_of_size(z) + 0.69314718055994530942;
    const double angle =
        x == 0 && std::isnan(y) ? 1.57079632679489661923 : std::atan2(std::fabs(y), x);
    return {angle, std::copysign(size, std::signbit(y) ? 1.0 : -1.0)};
  }
  const Wide below = sqrt({1 - x, -y}), above = sqrt({1 + x, y});
  return {2 * std::atan2(below.re, above.re),
          std::asinh(above.re * below.im - above.im * below.re)};
}

// i · acos z or -i · acos z, whichever has a non-negative real part.
DL_FN Wide acosh(Wide z) {
  const Wide angle = acos(z);
  return {std::fabs(angle.im),
          std::isnan(z.im) && z.re == 0 ? angle.re : std::copysign(angle.re, z.im)};
}

DL_FN Wide atanh(Wide z) {
  const double x = std::fabs(z.re), y = z.im;
  const double phase = 0.5 * (std::atan2(y, 1 + x) + std::atan2(y, 1 - x));
  double size;
  if (std::isinf(x) || std::isinf(y)) {
    size = 0;
  } else if (is_far({x, y})) {
    // x / |z|², computed relative to the larger part.
    const double large = larger_part({x, y}), u = x / large, v = y / large;
    size = u / (u * u + v * v) / large;
  } else {
    const double remainder = 1 - x, distance = std::hypot(remainder, y);
    size = distance < 0.25 ? 0.5 * (log_of_size({1 + x, y}) - std::log(distance))
                           : 0.25 * std::log1p(4 * x / (distance * distance));
  }
  if (x == 0) size = 0;
  return {std::copysign(size, z.re),
          std::isinf(y) ? std::copysign(1.57079632679489661923, y) : phase};
}

DL_FN Wide sgn(Wide z) {
  if (z.re == 0 && z.im == 0) return {0, 0};
  if (!is_finite(z)) return {NAN, NAN};  // infinite z: the ratio of the parts is unknown
  if (!has_middle_exponent(larger_part(z))) z = scaled(z, -std::ilogb(larger_part(z)));
  const double size = std::hypot(z.re, z.im);
  return {z.re / size, z.im / size};
}

// 1 / (1 + e^-z); near its poles, at odd multiples of i · π, as the equivalent tanh.
DL_FN Wide sigmoid(Wide z) {
  if (std::fabs(z.re) < 1 && std::isfinite(z.im)) {
    const Wide half = tanh({0.5 * z.re, 0.5 * z.im});
    return {0.5 + 0.5 * half.re, 0.5 * half.im};
  }
  if (z.re < 0 && is_finite(z)) {
    const Wide small = exp(z);
    return quotient(small, {1 + small.re, small.im});
  }
  const Wide small = exp(-z);
  return quotient({1, 0}, {1 + small.re, small.im});
}

// Evaluate functions other than the rotated ones.
DL_FN Wide evaluate_unrotated(ComplexFunction which, Wide z) {
  switch (which) {
    case ComplexFunction::kSqrt:
    case ComplexFunction::kRsqrt:
      z = sqrt(z);
      if (which == ComplexFunction::kSqrt) return z;
      [[fallthrough]];
    case ComplexFunction::kReciprocal:
      return quotient({1, 0}, z);
    case ComplexFunction::kSgn:
      return sgn(z);
    case ComplexFunction::kExp:
      return exp(z);
    case ComplexFunction::kExpm1:
      return expm1(z);
    case ComplexFunction::kLog:
    case ComplexFunction::kLog2:
    case ComplexFunction::kLog10: {
      const double unit = which == ComplexFunction::kLog2    ? 0.69314718055994530942
                          : which == ComplexFunction::kLog10 ? 2.30258509299404568402
                                                             : 1;
      const Wide value = log(z);
      return {value.re / unit, value.im / unit};
    }
    case ComplexFunction::kLog1p:
      return log1p(z);
    case ComplexFunction::kSigmoid:
      return sigmoid(z);
    case ComplexFunction::kAcos:
    case ComplexFunction::kAcosh:
      return which == ComplexFunction::kAcos ? acos(z) : acosh(z);
    case ComplexFunction::kSinh:
    case ComplexFunction::kSin:
      return sinh(z);
    case ComplexFunction::kCosh:
    case ComplexFunction::kCos:
      return cosh(z);
    case ComplexFunction::kTanh:
    case ComplexFunction::kTan:
      return tanh(z);
    case ComplexFunction::kAsinh:
    case ComplexFunction::kAsin:
      return asinh(z);
    default:
      return atanh(z);
  }
}

DL_FN Wide evaluate(ComplexFunction which, Wide z) {
  if (which < ComplexFunction::kSin) return evaluate_unrotated(which, z);
  const Wide value = evaluate_unrotated(which, {-z.im, z.re});
  if (which == ComplexFunction::kCos) return value;
  // For a NaN angle, the sign of the infinite sine is unknown too.
  const bool unknown = which == ComplexFunction::kSin && std::isnan(value.im);
  return {value.im, unknown ? std::fabs(value.re) : -value.re};
}

// A double-double number: a value, and a small remainder.
struct Unrounded {
  Wide value, rest;
};

// Double-double a · b + c · d. Products use fma, so that compilers do not contract them with the
// following operations. Source: Dekker, A floating-point technique for extending the available
// precision (1971).
DL_FN void add_products(double a, double b, double c, double d, double* sum, double* rest) {
  const double first = std::fma(a, b, 0.0), second = std::fma(c, d, 0.0);
  const bool in_order = std::fabs(first) >= std::fabs(second);
  const double large = in_order ? first : second, small = in_order ? second : first;
  *sum = large + small;
  *rest = (small - (*sum - large)) + (std::fma(a, b, -first) + std::fma(c, d, -second));
}

DL_FN Unrounded product(Unrounded x, Unrounded y) {
  const Wide a = x.value, b = y.value;
  Unrounded result;
  add_products(a.re, b.re, -a.im, b.im, &result.value.re, &result.rest.re);
  add_products(a.re, b.im, a.im, b.re, &result.value.im, &result.rest.im);
  result.rest = result.rest + a * y.rest + x.rest * b;
  return result;
}

// z^count for count > 0 by binary powering, in double-double: a rounding error of an early product
// would be multiplied by the exponent.
DL_FN Wide repeated_product(Wide z, int count) {
  Unrounded base{z, {0, 0}};
  for (; count % 2 == 0; count /= 2) base = product(base, base);
  Unrounded power = base;
  while ((count /= 2) != 0) {
    base = product(base, base);
    if (count % 2 != 0) power = product(power, base);
  }
  return is_finite(power.rest) ? power.value + power.rest : power.value;
}

// Annex G's value of a part in a product with infinity.
DL_FN double annex_g_part(double part) { return std::copysign(std::isinf(part) ? 1.0 : 0.0, part); }
DL_FN double known(double part) { return std::isnan(part) ? std::copysign(0.0, part) : part; }

// a · b, infinite if one factor is infinite and the other is not 0, even if NaN: as in C's Annex G.
DL_FN Wide infinite_product(Wide a, Wide b) {
  const Wide plain = a * b;
  if (!std::isnan(plain.re) || !std::isnan(plain.im)) return plain;
  const bool first = std::isinf(a.re) || std::isinf(a.im);
  const bool second = std::isinf(b.re) || std::isinf(b.im);
  if (!first && !second) return plain;
  if (first) a = {annex_g_part(a.re), annex_g_part(a.im)};
  if (second) b = {annex_g_part(b.re), annex_g_part(b.im)};
  const Wide phase = Wide{known(a.re), known(a.im)} * Wide{known(b.re), known(b.im)};
  return {HUGE_VAL * phase.re, HUGE_VAL * phase.im};
}

// z^w: products for small integers w, square roots for w = ±1/2, else e^(w · log z). For infinite
// and NaN z, only those powers are computed by products for which PyTorch uses products too.
DL_FN Wide pow(Wide z, Wide w) {
  if (w.re == 0 && w.im == 0) return {1, 0};
  if (w.im == 0 && std::fabs(w.re) == 0.5) {
    const Wide root = sqrt(z);
    return w.re > 0 ? root : quotient({1, 0}, root);
  }
  const bool multiplies = is_finite(z) ? std::fabs(w.re) <= 32 : w.re >= -2 && w.re <= 3;
  if (w.im == 0 && multiplies && w.re == std::floor(w.re)) {
    const int count = static_cast<int>(w.re);
    const double size = larger_part(z);
    // Scale to a moderate size, so that no product overflows or underflows.
    const int by = is_finite(z) && size != 0 ? std::ilogb(size) : 0;
    const Wide power = repeated_product(scaled(z, -by), std::abs(count));
    return scaled(count < 0 ? quotient({1, 0}, power) : power, by * count);
  }
  return exp(infinite_product(w, log(z)));
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_COMPLEX_FUNCTIONS_H_
