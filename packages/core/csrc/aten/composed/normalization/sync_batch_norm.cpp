// Operators of nn.SyncBatchNorm, which torch implements for CUDA and XPU only. Statistics are per
// channel (dimension 1), in the accumulation dtype.
#include <ATen/DimVector.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>

#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

constexpr int64_t kChannels = 1;

at::DimVector all_but_channels(const Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, "[dl] SyncBatchNorm: expected at least 2 dimensions, got ",
              input.sizes());
  at::DimVector dims;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != kChannels) dims.push_back(d);
  }
  return dims;
}

Tensor in_sums(const Tensor& tensor) { return tensor.to(at::toOpMathType(tensor.scalar_type())); }

// Reshapes per-channel values so that they broadcast with `input`.
Tensor of_channels(const Tensor& values, const Tensor& input) {
  at::DimVector sizes(input.dim(), 1);
  sizes[kChannels] = input.size(kChannels);
  return in_sums(values).view(sizes);
}

std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  const at::DimVector dims = all_but_channels(input);
  const Tensor wide = in_sums(input);
  Tensor mean = wide.mean(dims);
  const Tensor variance = (wide - of_channels(mean, input)).square().mean(dims);
  return {std::move(mean), (variance + eps).rsqrt()};
}

// `mean` and `invstd` have a row for each rank, `counts` has one value for each rank.
std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(
    const Tensor&, const Tensor& mean, const Tensor& invstd, const OptionalTensor& running_mean,
    const OptionalTensor& running_var, double momentum, double eps, const Tensor& counts) {
  const Tensor means = in_sums(mean);
  const Tensor weights = counts.to(means.scalar_type()).view({-1, 1});
  const Tensor total = weights.sum();
  Tensor common = (means * weights).sum(0) / total;
  const Tensor variances = in_sums(invstd).pow(-2) - eps;
  const Tensor squares = ((variances + (means - common).square()) * weights).sum(0);
  if (running_mean && running_mean->defined())
    running_mean->mul_(1 - momentum).add_(common.to(running_mean->scalar_type()), momentum);
  if (running_var && running_var->defined()) {
    const Tensor unbiased = squares / (total - 1);
    running_var->mul_(1 - momentum).add_(unbiased.to(running_var->scalar_type()), momentum);
  }
  Tensor scale = (squares / total + eps).rsqrt();
  return {std::move(common), std::move(scale)};
}

Tensor batch_norm_elemt(const Tensor& input, const OptionalTensor& weight,
                        const OptionalTensor& bias, const Tensor& mean, const Tensor& invstd,
                        double) {
  Tensor result = (in_sums(input) - of_channels(mean, input)) * of_channels(invstd, input);
  if (weight && weight->defined()) result = result * of_channels(*weight, input);
  if (bias && bias->defined()) result = result + of_channels(*bias, input);
  return result.to(input.scalar_type());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& invstd,
    const OptionalTensor& weight, bool input_g, bool weight_g, bool bias_g) {
  const at::DimVector dims = all_but_channels(input);
  const Tensor grad = in_sums(grad_out);
  const Tensor sum = grad.sum(dims);
  const Tensor products = (grad * (in_sums(input) - of_channels(mean, input))).sum(dims);
  const auto type = weight && weight->defined() ? weight->scalar_type() : input.scalar_type();
  Tensor grad_weight, grad_bias;
  if (weight_g) grad_weight = (products * in_sums(invstd)).to(type);
  if (bias_g) grad_bias = sum.to(type);
  return {input_g ? sum : Tensor(), input_g ? products : Tensor(), std::move(grad_weight),
          std::move(grad_bias)};
}

Tensor batch_norm_backward_elemt(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                 const Tensor& invstd, const OptionalTensor& weight,
                                 const Tensor& sum_dy, const Tensor& sum_dy_xmu,
                                 const Tensor& count) {
  const Tensor total = count.sum().to(in_sums(mean).scalar_type());
  const Tensor scale = of_channels(invstd, input);
  const Tensor centered = in_sums(input) - of_channels(mean, input);
  Tensor result = in_sums(grad_out) - of_channels(sum_dy, input) / total -
                  centered * scale.square() * of_channels(sum_dy_xmu, input) / total;
  result = result * scale;
  if (weight && weight->defined()) result = result * of_channels(*weight, input);
  return result.to(input.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("batch_norm_stats", batch_norm_stats);
  DL_COMPOSED("batch_norm_gather_stats_with_counts", batch_norm_gather_stats_with_counts);
  DL_COMPOSED("batch_norm_elemt", batch_norm_elemt);
  DL_COMPOSED("batch_norm_backward_reduce", batch_norm_backward_reduce);
  DL_COMPOSED("batch_norm_backward_elemt", batch_norm_backward_elemt);
}

}  // namespace dl::core::composed
