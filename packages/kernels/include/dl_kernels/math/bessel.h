// Bessel and Airy functions of real arguments, in double. Definitions: NIST Digital Library of
// Mathematical Functions (DLMF), chapters 9 and 10.
#ifndef DL_KERNELS_MATH_BESSEL_H_
#define DL_KERNELS_MATH_BESSEL_H_

#include <cmath>

#include "dl_kernels/math/chebyshev_tables.gen.h"

DL_KERNELS_BEGIN

namespace math {

// exp(-|x|) I0(x).
DL_FN double bessel_i0e(double x) {
  const double size = std::fabs(x);
  if (size <= 8) return i0e_small_series(size / 4 - 1) / std::sqrt(2 + size);
  return i0e_large_series(16 / size - 1) / std::sqrt(size);
}

// exp(-|x|) I1(x).
DL_FN double bessel_i1e(double x) {
  const double size = std::fabs(x);
  if (size <= 8) return x * i1e_small_series(size / 4 - 1) / ((2 + size) * std::sqrt(2 + size));
  return std::copysign(i1e_large_series(16 / size - 1) / std::sqrt(size), x);
}

// In two factors, because exp(|x|) overflows before I0 does; I0(inf) must not be computed as inf ·
// 0.
DL_FN double bessel_i0(double x) {
  if (std::isinf(x)) return std::fabs(x);
  const double half = std::exp(std::fabs(x) / 2);
  return half * bessel_i0e(x) * half;
}

DL_FN double bessel_i1(double x) {
  if (std::isinf(x)) return x;
  const double half = std::exp(std::fabs(x) / 2);
  return half * bessel_i1e(x) * half;
}

// exp(x) K0(x) for x >= 2.
DL_FN double bessel_k0e_large(double x) { return k0e_large_series(4 / x - 1) / std::sqrt(x); }
DL_FN double bessel_k1e_large(double x) { return k1e_large_series(4 / x - 1) / std::sqrt(x); }

DL_FN double bessel_k0_small(double x) {
  return k0_rest_series(x * x / 2 - 1) - std::log(x / 2) * bessel_i0(x);
}
DL_FN double bessel_k1_small(double x) {
  return k1_rest_series(x * x / 2 - 1) / x + std::log(x / 2) * bessel_i1(x);
}

// K for arguments that are not positive: infinity at 0, NaN below.
DL_FN double bessel_k_outside(double x) { return x == 0 ? HUGE_VAL : NAN; }

DL_FN double bessel_k0(double x) {
  if (!(x > 0)) return bessel_k_outside(x);
  if (x <= 2) return bessel_k0_small(x);
  const double half = std::exp(-x / 2);
  return half * bessel_k0e_large(x) * half;
}

DL_FN double bessel_k1(double x) {
  if (!(x > 0)) return bessel_k_outside(x);
  if (x <= 2) return bessel_k1_small(x);
  const double half = std::exp(-x / 2);
  return half * bessel_k1e_large(x) * half;
}

// exp(x) K0(x).
DL_FN double bessel_k0e(double x) {
  if (!(x > 0)) return bessel_k_outside(x);
  return x <= 2 ? std::exp(x) * bessel_k0_small(x) : bessel_k0e_large(x);
}

// exp(x) K1(x).
DL_FN double bessel_k1e(double x) {
  if (!(x > 0)) return bessel_k_outside(x);
  return x <= 2 ? std::exp(x) * bessel_k1_small(x) : bessel_k1e_large(x);
}

// sin(x) / x.
DL_FN double spherical_bessel_j0(double x) {
  if (x == 0) return 1;
  return std::isinf(x) ? 0 : std::sin(x) / x;
}

// Near 0 the power series (DLMF 9.4.1); elsewhere modulus and phase, or the exponential decay (DLMF
// 9.7), whose factors are Chebyshev series.
DL_FN double airy_ai(double x) {
  constexpr double kRootPi = 1.7724538509055160273, kQuarterPi = 0.78539816339744830962;
  if (std::isnan(x)) return x;
  if (x > -2 && x < 1) {
    constexpr double kAtZero = 0.35502805388781723926, kSlope = -0.25881940379280679840;
    const double cube = x * x * x;
    double even = kAtZero, odd = kSlope * x, sum = even + odd;
    for (int k = 3; k < 60; k += 3) {
      even *= cube / ((k - 1) * k);
      odd *= cube / (k * (k + 1));
      sum += even + odd;
    }
    return sum;
  }
  const double size = std::fabs(x);
  if (std::isinf(x) || size > 1e200) return 0;
  const double root = std::sqrt(size), zeta = 2 * size * root / 3, scale = std::sqrt(root);
  if (x > 0) {
    const double half = std::exp(-zeta / 2);
    return half * airy_positive_series(4 / (3 * zeta) - 1) / (2 * kRootPi * scale) * half;
  }
  constexpr double kFirst = 1.88561808316412673174;
  const double t = 2 * (kFirst / zeta) * (kFirst / zeta) - 1, angle = zeta - kQuarterPi;
  const double cosine = airy_cosine_series(t) * std::cos(angle);
  return (cosine + airy_sine_series(t) / zeta * std::sin(angle)) / (kRootPi * scale);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_BESSEL_H_
