// Norms of rows, and their derivatives.
#ifndef DL_KERNELS_NORM_NORM_SLOPE_H_
#define DL_KERNELS_NORM_NORM_SLOPE_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/norm/scaled_norm.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

// Compute the norm of order p, which may be infinite, of the n elements of a row.
template <class B>
DL_FN double row_norm(const B& block, const double* x, int64_t n, double p) {
  if (std::isinf(p)) {
    const bool most = p > 0;
    return block.reduce(
        n, most ? 0.0 : highest<double>(),
        [most](double a, double b) { return most ? max_nan(a, b) : min_nan(a, b); },
        [x](int64_t i) { return std::fabs(x[i]); });
  }
  if (p == 0) return block.sum(n, [x](int64_t i) { return x[i] != 0 ? 1.0 : 0.0; });
  if (p == 1) return block.sum(n, [x](int64_t i) { return std::fabs(x[i]); });
  const double sum = p == 2
                         ? block.sum(n, [x](int64_t i) { return x[i] * x[i]; })
                         : block.sum(n, [x, p](int64_t i) { return std::pow(std::fabs(x[i]), p); });
  if (sum_is_exact(sum)) return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  return scaled_norm(block, n, [x](int64_t i) { return std::fabs(x[i]); }, p);
}

// The derivative of a norm with respect to an element: sgn(x) · (|x| / norm)^(p - 1), 0 at 0. For
// infinite orders, all elements whose magnitude is the norm share the gradient equally.
struct NormSlope {
  double p, norm, share;

  DL_FN double operator()(double x) const {
    if (x == 0 && !std::isinf(p)) return 0;
    const double sign = x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x;
    if (p == 0) return 0;
    if (p == 1) return sign;
    if (p == 2) return norm == 0 ? 0 : x / norm;
    if (std::isinf(p)) return std::fabs(x) == norm ? sign * share : 0;
    return sign * std::pow(std::fabs(x) / norm, p - 1);
  }
};

template <class B>
DL_FN NormSlope norm_slope(const B& block, const double* x, int64_t n, double p, double norm) {
  if (!std::isinf(p)) return {p, norm, 1};
  const double equal =
      block.sum(n, [x, norm](int64_t i) { return std::fabs(x[i]) == norm ? 1.0 : 0.0; });
  return {p, norm, 1 / equal};
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_NORM_SLOPE_H_
