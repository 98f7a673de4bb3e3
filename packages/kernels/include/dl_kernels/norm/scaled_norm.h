// Norms and standard deviations of elements whose powers overflow or underflow although the result
// does not: elements are divided by their largest magnitude first. This takes a second pass, so it
// is used only if a plain sum of powers was inexact, which sum_is_exact detects.
//
// Sources: Blue, A Portable Fortran Program to Find the Euclidean Norm of a Vector, ACM TOMS 4
// (1978); Anderson, Algorithm 978: Safe Scaling in the Level 1 BLAS, ACM TOMS 44 (2017), whose
// thresholds are those at which squares lose precision to underflow.
#ifndef DL_KERNELS_NORM_SCALED_NORM_H_
#define DL_KERNELS_NORM_SCALED_NORM_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

// Marks rarely called functions, which stay out of the loops of their callers.
#if DL_KERNELS_GPU
#define DL_SLOW_FN DL_FN
#else
#define DL_SLOW_FN __attribute__((noinline))
#endif

DL_KERNELS_BEGIN

// Return true if no power in a sum of powers has overflowed, and no significant power was rounded
// to a subnormal number. If a sum of at most 2^22 squares of floats is at least 2^-100, subnormal
// squares contribute less than half an ULP.
template <class C>
DL_FN bool sum_is_exact(C sum) {
  constexpr C kLeast = static_cast<C>(sizeof(C) == 4 ? 0x1p-100 : 0x1p-940);
  return sum >= kLeast && sum < highest<C>();
}

// Σ |x|^p as unit^p · sum.
struct ScaledSum {
  double unit = 1, sum = 0;

  ScaledSum() = default;
  DL_FN ScaledSum(double of) : sum(of) {}  // NOLINT: implicit, a plain sum has unit 1
  DL_FN ScaledSum(double unit_of, double of) : unit(unit_of), sum(of) {}

  DL_FN double root(double p) const {
    return unit * (p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p));
  }
};

// |x|^p, for an x of 0 or more.
DL_FN ScaledSum scaled_power(double x, double p) {
  if (x > 0 && x < highest<double>()) return {x, 1};
  return ScaledSum(std::pow(x, p));
}

DL_FN ScaledSum add_scaled(const ScaledSum& a, const ScaledSum& b, double p) {
  if (a.unit == b.unit) return {a.unit, a.sum + b.sum};
  if (a.sum == 0) return b;
  if (b.sum == 0) return a;
  // Keep the unit of the dominant elements: the largest, or the smallest for negative orders.
  const bool first = (a.unit > b.unit) == (p > 0);
  const ScaledSum &kept = first ? a : b, &other = first ? b : a;
  return {kept.unit, kept.sum + other.sum * std::pow(other.unit / kept.unit, p)};
}

// `size(i)` is |x[i]| in double; p is neither 0 nor infinite.
template <class B, class F>
DL_SLOW_FN ScaledSum scaled_sum(const B& block, int64_t n, const F& size, double p) {
  const bool most = p > 0;
  const double unit = block.reduce(
      n, most ? 0.0 : highest<double>(),
      [most](double a, double b) { return most ? max_nan(a, b) : min_nan(a, b); }, size);
  // If the unit is 0, infinite or NaN, so is the sum.
  if (!(unit > 0 && unit < highest<double>())) return scaled_power(unit, p);
  if (p == 2) {
    return {unit, block.sum(n, [=](int64_t i) {
              const double part = size(i) / unit;
              return part * part;
            })};
  }
  return {unit, block.sum(n, [=](int64_t i) { return std::pow(size(i) / unit, p); })};
}

template <class B, class F>
DL_FN double scaled_norm(const B& block, int64_t n, const F& size, double p) {
  return scaled_sum(block, n, size, p).root(p);
}

// The mean of `value`, or 0 if `centered` is false, and 1 / sqrt(mean((value - mean)²) + eps).
// Returns the mean of (value - mean)².
template <class C, class B, class F>
DL_SLOW_FN double scaled_statistics(const B& block, int64_t n, const F& value, bool centered, C eps,
                                    C* mean, C* invstd) {
  const auto wide = [=](int64_t i) { return static_cast<double>(value(i)); };
  const double count = static_cast<double>(n);
  const double most = block.reduce(
      n, 0.0, [](double a, double b) { return max_nan(a, b); },
      [=](int64_t i) { return std::fabs(wide(i)); });
  // Infinite and NaN elements are not scaled; mean and deviation become infinite or NaN like them.
  const double unit = most > 0 && most < highest<double>() ? most : 1;
  const double middle =
      centered ? block.sum(n, [=](int64_t i) { return wide(i) / unit; }) / count : 0;
  const double squares = block.sum(n, [=](int64_t i) {
    const double deviation = wide(i) / unit - middle;
    return deviation * deviation;
  });
  const double deviation = unit * std::sqrt(squares / count);
  *mean = static_cast<C>(middle * unit);
  *invstd = static_cast<C>(1 / std::hypot(deviation, std::sqrt(static_cast<double>(eps))));
  return deviation * deviation;
}

DL_KERNELS_END

#undef DL_SLOW_FN

#endif  // DL_KERNELS_NORM_SCALED_NORM_H_
