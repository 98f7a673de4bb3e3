// Bessel functions of floats in double without branches, so that loops vectorize: modified ones by
// the formulas of bessel.h with fewer terms, J0 and J1 of small arguments by their power series.
#ifndef DL_KERNELS_MATH_BESSEL_FOR_FLOAT_H_
#define DL_KERNELS_MATH_BESSEL_FOR_FLOAT_H_

#include <cmath>

#include "dl_kernels/math/chebyshev_tables.gen.h"
#include "dl_kernels/math/for_float.h"

DL_KERNELS_BEGIN

namespace math {

// exp(-|x|) I0(x) and exp(-|x|) I1(x) of |x|.
DL_FN double i0e_for_float(double size) {
  const bool is_small = size <= 8;
  const double t = is_small ? size / 4 - 1 : 16 / size - 1;
  const double inner = i0e_small_series<true>(t), outer = i0e_large_series<true>(t);
  return (is_small ? inner : outer) / std::sqrt(is_small ? 2 + size : size);
}
DL_FN double i1e_for_float(double size) {
  const bool is_small = size <= 8;
  const double t = is_small ? size / 4 - 1 : 16 / size - 1;
  const double inner = i1e_small_series<true>(t) * size / (2 + size);
  const double outer = i1e_large_series<true>(t);
  return (is_small ? inner : outer) / std::sqrt(is_small ? 2 + size : size);
}

// From 100 on, which stands for larger arguments, the functions are beyond the range of float.
DL_FN double clamped_size(double x) {
  const double size = std::fabs(x);
  return size > 100 ? 100 : size;
}

DL_FN float bessel_i0e(float x) {
  return static_cast<float>(i0e_for_float(std::fabs(static_cast<double>(x))));
}
DL_FN float bessel_i1e(float x) {
  const double wide = static_cast<double>(x);
  return static_cast<float>(std::copysign(i1e_for_float(std::fabs(wide)), wide));
}
DL_FN float bessel_i0(float x) {
  const double size = clamped_size(static_cast<double>(x));
  return static_cast<float>(exp_for_float(size) * i0e_for_float(size));
}
DL_FN float bessel_i1(float x) {
  const double wide = static_cast<double>(x), size = clamped_size(wide);
  return static_cast<float>(std::copysign(exp_for_float(size) * i1e_for_float(size), wide));
}

// exp(x) K0(x), with `scale` = exp(x), for x > 0: up to 2 by the logarithm.
DL_FN double k0e_for_float(double x, double scale) {
  const bool is_small = x <= 2;
  const double t = is_small ? x * x / 2 - 1 : 4 / x - 1;
  const double inner = is_small ? x : 2.0;
  const double near =
      k0_rest_series<true>(t) - log_for_float(inner / 2) * scale * i0e_for_float(inner);
  return is_small ? scale * near : k0e_large_series<true>(t) / std::sqrt(x);
}
DL_FN double k1e_for_float(double x, double scale) {
  const bool is_small = x <= 2;
  const double t = is_small ? x * x / 2 - 1 : 4 / x - 1;
  const double inner = is_small ? x : 2.0;
  const double near =
      k1_rest_series<true>(t) / x + log_for_float(inner / 2) * scale * i1e_for_float(inner);
  return is_small ? scale * near : k1e_large_series<true>(t) / std::sqrt(x);
}

// The results for arguments that are not positive: infinity at 0, NaN below.
DL_FN float k_with_outside(float x, double value) {
  const float inside = static_cast<float>(value);
  const float outside = x == 0.0f ? HUGE_VALF : NAN;
  return x > 0.0f ? inside : outside;
}

DL_FN float bessel_k0e(float x) {
  const double wide = static_cast<double>(x);
  return k_with_outside(x, k0e_for_float(wide, exp_for_float(wide)));
}
DL_FN float bessel_k1e(float x) {
  const double wide = static_cast<double>(x);
  return k_with_outside(x, k1e_for_float(wide, exp_for_float(wide)));
}
DL_FN float bessel_k0(float x) {
  const double wide = static_cast<double>(x), scale = exp_for_float(wide);
  return k_with_outside(x, k0e_for_float(wide, scale) / scale);
}
DL_FN float bessel_k1(float x) {
  const double wide = static_cast<double>(x), scale = exp_for_float(wide);
  return k_with_outside(x, k1e_for_float(wide, scale) / scale);
}

// J0 for an order of 0 and J1 for 1, for |x| up to kLargestOfSeries (DLMF 10.2.2). The first
// omitted term is below 2^-57, and no term is larger than 10.
inline constexpr float kLargestOfSeries = 5.0f;
template <int order>
DL_FN float bessel_j_by_series(float x) {
  const double half = static_cast<double>(x) / 2, t = half * half;
  double sum = 1;
  DL_UNROLL
  for (int k = 18; k > 0; --k) sum = 1 - t * (1.0 / (k * (k + order))) * sum;
  return static_cast<float>(order == 0 ? sum : half * sum);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_BESSEL_FOR_FLOAT_H_
