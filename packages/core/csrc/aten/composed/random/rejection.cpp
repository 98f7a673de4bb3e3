// Gamma, Dirichlet, Poisson and binomial sampling by rejection. Proposals are drawn for all
// elements at once, then again for rejected ones. Computed in double; arguments outside the domain
// of a distribution go to the fallback, where torch raises the errors.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>
#include <utility>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

// A candidate for every element, and the mask of accepted candidates.
using Proposal = std::pair<Tensor, Tensor>;

// Smallest mean for the transformed rejection methods; for smaller means, events are counted.
constexpr double kLargeMean = 10;

bool has_any(const Tensor& mask) { return mask.sum().item<int64_t>() != 0; }

bool all_within(const Tensor& values, double low, double high) {
  return !has_any(values.ge(low).bitwise_and_(values.le(high)).bitwise_not_());
}

// Samples of the open interval (0, 1): uniform samples of double have 53 bits.
Tensor uniform_like(const Tensor& model, const OptionalGenerator& generator) {
  const double half = std::ldexp(1.0, -54);
  return at::empty_like(model).uniform_(half, 1 + half, generator);
}

template <typename Propose>
Tensor first_accepted(const Tensor& model, const Propose& propose) {
  Tensor result = at::zeros_like(model);
  Tensor pending = at::zeros_like(model, model.options().dtype(at::kBool)).bitwise_not_();
  while (has_any(pending)) {
    const auto [candidate, accepted] = propose();
    result = at::where(pending.bitwise_and(accepted), candidate, result);
    pending.bitwise_and_(accepted.bitwise_not());
  }
  return result;
}

// log Γ(x) for x >= 1 by Stirling's series at x + 7.
Tensor log_gamma(const Tensor& x) {
  Tensor product = x.clone();
  for (int i = 1; i < 7; ++i) product.mul_(x + i);
  const Tensor y = x + 7, inverse = y.reciprocal(), square = inverse * inverse;
  const Tensor series = ((square * (1.0 / 1260) - 1.0 / 360) * square + 1.0 / 12) * inverse;
  constexpr double kHalfLogTwoPi = 0.918938533204672741780;
  return (y - 0.5) * y.log() - y + kHalfLogTwoPi + series - product.log_();
}

// Source: Marsaglia and Tsang, A simple method for generating gamma variables (TOMS 2000). For
// shapes below 1, a sample with shape + 1 is multiplied by a power of a uniform sample.
Tensor gamma_numbers(const Tensor& shape, const OptionalGenerator& generator) {
  const Tensor below = shape.lt(1);
  const Tensor d = at::where(below, shape + 1, shape) - 1.0 / 3;
  const Tensor c = (d * 9).rsqrt_();
  Tensor result = first_accepted(shape, [&]() -> Proposal {
    const Tensor x = at::empty_like(shape).normal_(0, 1, generator);
    const Tensor root = c * x + 1, v = root * root * root;
    // If v is negative, the logarithm is NaN and the comparison is false.
    const Tensor bound = x * x * 0.5 + d * (1 - v + v.log());
    return {d * v, uniform_like(shape, generator).log_().lt(bound)};
  });
  if (has_any(below)) {
    const Tensor power = (uniform_like(shape, generator).log_() / shape).exp_();
    result = at::where(below, result * power, result);
  }
  return result;
}

double smallest_number(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return std::numeric_limits<double>::min();
    case at::kHalf:
      return std::ldexp(1.0, -14);
    default:
      return std::numeric_limits<float>::min();
  }
}

Tensor standard_gamma(const Tensor& self, OptionalGenerator generator) {
  const double most = std::numeric_limits<double>::max();
  if (!is_on_dl(self) || !self.is_floating_point() ||
      !all_within(self, smallest_number(at::kDouble), most)) {
    return on_cpu<"_standard_gamma", Tensor(const Tensor&, OptionalGenerator)>(self, generator);
  }
  return gamma_numbers(self.to(at::kDouble), generator)
      .clamp_min_(smallest_number(self.scalar_type()))
      .to(self.scalar_type());
}

Tensor sample_dirichlet(const Tensor& self, OptionalGenerator generator) {
  const double most = std::numeric_limits<double>::max();
  if (!is_on_dl(self) || !self.is_floating_point() || self.dim() == 0 ||
      !all_within(self, smallest_number(at::kDouble), most)) {
    return on_cpu<"_sample_dirichlet", Tensor(const Tensor&, OptionalGenerator)>(self, generator);
  }
  const Tensor numbers =
      gamma_numbers(self.to(at::kDouble), generator).clamp_min_(smallest_number(at::kDouble));
  return (numbers / numbers.sum(at::IntArrayRef{-1}, true))
      .clamp_(smallest_number(self.scalar_type()), 1)
      .to(self.scalar_type());
}

// Number of arrivals within the time `mean`, with exponential gaps.
Tensor small_poisson(const Tensor& mean, const OptionalGenerator& generator) {
  Tensor time = at::zeros_like(mean), count = at::zeros_like(mean);
  for (;;) {
    time.sub_(uniform_like(mean, generator).log_());
    const Tensor arrived = time.lt(mean);
    if (!has_any(arrived)) return count;
    count.add_(arrived);
  }
}

// Source: Hoermann, The transformed rejection method for generating Poisson random variables
// (1993), PTRS without its shortcuts.
Tensor large_poisson(const Tensor& mean, const OptionalGenerator& generator) {
  const Tensor b = mean.sqrt() * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  const Tensor inverse_alpha = (b - 3.4).reciprocal() * 1.1328 + 1.1239, log_mean = mean.log();
  return first_accepted(mean, [&]() -> Proposal {
    const Tensor u = uniform_like(mean, generator) - 0.5, v = uniform_like(mean, generator);
    const Tensor us = 0.5 - u.abs();
    const Tensor k = ((a * 2 / us + b) * u + mean + 0.43).floor_();
    const Tensor bound = k * log_mean - mean - log_gamma(k.clamp_min(0) + 1);
    const Tensor drawn = (v * inverse_alpha / (a / (us * us) + b)).log_();
    return {k, drawn.le(bound).bitwise_and_(k.ge(0))};
  });
}

Tensor poisson(const Tensor& self, OptionalGenerator generator) {
  // Counts up to this value are exact in double.
  if (!is_on_dl(self) || !self.is_floating_point() || !all_within(self, 0, std::ldexp(1.0, 53))) {
    return on_cpu<"poisson", Tensor(const Tensor&, OptionalGenerator)>(self, generator);
  }
  const Tensor mean = self.to(at::kDouble), large = mean.ge(kLargeMean);
  Tensor result = small_poisson(mean.masked_fill(large, 0), generator);
  if (has_any(large)) {
    const Tensor means = mean.clamp_min(kLargeMean);
    result = at::where(large, large_poisson(means, generator), result);
  }
  return result.to(self.scalar_type());
}

// The number of trials up to the next success is geometric.
Tensor small_binomial(const Tensor& trials, const Tensor& p, const OptionalGenerator& generator) {
  Tensor position = at::zeros_like(trials), count = at::zeros_like(trials);
  // Never 0, so that the gaps are infinite if the success probability is 0.
  const Tensor failing = (1 - p).log_().clamp_max_(-std::numeric_limits<double>::min());
  for (;;) {
    position.add_(uniform_like(trials, generator).log_().div_(failing).ceil_());
    const Tensor succeeded = position.le(trials);
    if (!has_any(succeeded)) return count;
    count.add_(succeeded);
  }
}

// Source: Hoermann, The generation of binomial random variates (1993), BTRS without its shortcuts.
Tensor large_binomial(const Tensor& n, const Tensor& p, const OptionalGenerator& generator) {
  const Tensor deviation = (n * p * (1 - p)).sqrt_(), b = deviation * 2.53 + 1.15;
  const Tensor a = b * 0.0248 + p * 0.01 - 0.0873,
               alpha = (b.reciprocal() * 5.1 + 2.83) * deviation;
  const Tensor mode = ((n + 1) * p).floor_(), log_odds = (p / (1 - p)).log_();
  const Tensor at_mode = log_gamma(mode + 1) + log_gamma(n - mode + 1);
  return first_accepted(n, [&]() -> Proposal {
    const Tensor u = uniform_like(n, generator) - 0.5, v = uniform_like(n, generator);
    const Tensor us = 0.5 - u.abs();
    const Tensor k = ((a * 2 / us + b) * u + n * p + 0.5).floor_();
    const Tensor possible = k.ge(0).bitwise_and_(k.le(n));
    const Tensor inside = at::where(possible, k, mode);
    const Tensor bound =
        at_mode - log_gamma(inside + 1) - log_gamma(n - inside + 1) + (inside - mode) * log_odds;
    const Tensor drawn = (v * alpha / (a / (us * us) + b)).log_();
    return {k, drawn.le(bound).bitwise_and_(possible)};
  });
}

Tensor binomial(const Tensor& count, const Tensor& prob, OptionalGenerator generator) {
  const bool floating = count.is_floating_point() && prob.is_floating_point();
  if (!is_on_dl(count) || count.device() != prob.device() || !floating ||
      count.sizes() != prob.sizes() || !all_within(count, 0, std::ldexp(1.0, 53)) ||
      !all_within(prob, 0, 1)) {
    return on_cpu<"binomial", Tensor(const Tensor&, const Tensor&, OptionalGenerator)>(count, prob,
                                                                                       generator);
  }
  const Tensor n = count.to(at::kDouble).floor(), given = prob.to(at::kDouble);
  // Counts successes, or failures if these are rarer.
  const Tensor mirrored = given.gt(0.5), p = at::where(mirrored, 1 - given, given);
  const Tensor large = (n * p).ge(kLargeMean);
  Tensor result = small_binomial(n, p.masked_fill(large, 0), generator);
  if (has_any(large)) {
    // For elements with a small mean, substitute any parameters for which the method is valid.
    const Tensor trials = at::where(large, n, at::ones_like(n).mul_(100));
    const Tensor chance = at::where(large, p, at::ones_like(p).mul_(0.5));
    result = at::where(large, large_binomial(trials, chance, generator), result);
  }
  return at::where(mirrored, n - result, result).to(count.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_standard_gamma", standard_gamma);
  DL_COMPOSED("_sample_dirichlet", sample_dirichlet);
  DL_COMPOSED("poisson", poisson);
  DL_COMPOSED("binomial", binomial);
}

}  // namespace dl::core::composed
