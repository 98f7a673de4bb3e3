// Exponential, Cauchy, geometric and log-normal sampling by inversion of the contract's uniform and
// normal samples. Other calls go to the fallback, where torch raises the errors.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty_like.h>

#include <cmath>
#include <limits>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Half of the distance between adjacent uniform samples. They have 24 bits in float and 53 bits in
// double.
double half_step(at::ScalarType type) {
  return type == at::kDouble ? std::ldexp(1.0, -54) : std::ldexp(1.0, -25);
}

// Calls `fill` on `self`, or on a tensor of `type` that is then converted to the dtype of `self`.
template <typename Fill>
at::Tensor& fill_as(at::Tensor& self, at::ScalarType type, const Fill& fill) {
  if (self.scalar_type() == type) {
    fill(self);
    return self;
  }
  at::Tensor numbers = at::empty_like(self, self.options().dtype(type));
  fill(numbers);
  return self.copy_(numbers);
}

at::ScalarType working_type(const at::Tensor& self) {
  return self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Logarithms of uniform samples; all are negative and finite.
void fill_with_logarithms(at::Tensor& numbers, const OptionalGenerator& generator) {
  numbers.uniform_(0, 1, generator).clamp_min_(half_step(numbers.scalar_type())).log_();
}

struct Limits {
  double least, most;  // smallest positive and largest sample in the dtype
};

Limits limits_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return {std::numeric_limits<double>::min(), std::numeric_limits<double>::max()};
    case at::kHalf:
      return {std::ldexp(1.0, -24), 65504.0};
    case at::kBFloat16:
      return {std::numeric_limits<float>::min(), std::numeric_limits<c10::BFloat16>::max()};
    default:
      return {std::numeric_limits<float>::min(), std::numeric_limits<float>::max()};
  }
}

// Exponential samples are neither 0 nor infinite in any dtype; only an infinite rate yields 0.
void keep_above_zero(at::Tensor& numbers, at::ScalarType type, double lambd) {
  const double half = half_step(numbers.scalar_type());
  const Limits limits = limits_of(type);
  if (std::isinf(lambd) || (half >= limits.least * lambd && -std::log(half) <= limits.most * lambd))
    return;
  numbers.clamp_(limits.least, limits.most);
}

bool is_dl_floating(const at::Tensor& self) { return is_on_dl(self) && self.is_floating_point(); }

at::Tensor& exponential_(at::Tensor& self, double lambd, OptionalGenerator generator) {
  if (!is_dl_floating(self) || !(lambd > 0)) {
    return on_cpu<"exponential_", at::Tensor&(at::Tensor&, double, OptionalGenerator)>(self, lambd,
                                                                                       generator);
  }
  return fill_as(self, working_type(self), [&](at::Tensor& numbers) {
    fill_with_logarithms(numbers, generator);
    numbers.mul_(-1.0 / lambd);
    keep_above_zero(numbers, self.scalar_type(), lambd);
  });
}

at::Tensor& geometric_(at::Tensor& self, double p, OptionalGenerator generator) {
  const bool numeric = self.is_floating_point() || c10::isIntegralType(self.scalar_type(), false);
  if (!is_on_dl(self) || !numeric || !(p > 0 && p < 1)) {
    return on_cpu<"geometric_", at::Tensor&(at::Tensor&, double, OptionalGenerator)>(self, p,
                                                                                     generator);
  }
  const bool wide = self.itemsize() >= 4 && self.scalar_type() != at::kFloat;
  return fill_as(self, wide ? at::kDouble : at::kFloat, [&](at::Tensor& numbers) {
    fill_with_logarithms(numbers, generator);
    numbers.mul_(1.0 / std::log1p(-p)).ceil_();
  });
}

// Computed in double, because the distribution is characterized by its heavy tails.
at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, OptionalGenerator generator) {
  if (!is_dl_floating(self) || !(sigma > 0)) {
    return on_cpu<"cauchy_", at::Tensor&(at::Tensor&, double, double, OptionalGenerator)>(
        self, median, sigma, generator);
  }
  return fill_as(self, at::kDouble, [&](at::Tensor& numbers) {
    const double low = -0.5 + half_step(numbers.scalar_type());
    numbers.uniform_(low, low + 1, generator).mul_(kPi);
    const at::Tensor cosines = at::cos(numbers);
    numbers.sin_().div_(cosines).mul_(sigma).add_(median);
  });
}

at::Tensor& log_normal_(at::Tensor& self, double mean, double std, OptionalGenerator generator) {
  if (!is_dl_floating(self) || !(std > 0)) {
    return on_cpu<"log_normal_", at::Tensor&(at::Tensor&, double, double, OptionalGenerator)>(
        self, mean, std, generator);
  }
  return fill_as(self, working_type(self),
                 [&](at::Tensor& numbers) { numbers.normal_(mean, std, generator).exp_(); });
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("exponential_", exponential_);
  DL_COMPOSED("geometric_", geometric_);
  DL_COMPOSED("cauchy_", cauchy_);
  DL_COMPOSED("log_normal_", log_normal_);
}

}  // namespace dl::core::composed
