#include "aten/plans/group_norm.h"

#include "aten/plans/checks.h"
#include "aten/plans/normalization.h"

namespace dl::core::plans {

bool group_norm(OutputPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t samples, int64_t channels, int64_t positions,
                int64_t groups) {
  const OptionalType type = parameter_type(input, weight, bias);
  if (!type || input.dim() < 2 || input.numel() == 0) return false;
  if (input.size(0) != samples || input.size(1) != channels ||
      input.numel() != samples * channels * positions || groups < 1 || channels % groups != 0 ||
      !has_sizes(weight, {channels}) || !has_sizes(bias, {channels})) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type(), input.suggest_memory_format());
  plan.output({samples, groups}, *type);
  plan.output({samples, groups}, *type);
  return true;
}

bool group_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                         int64_t samples, int64_t channels, int64_t positions, int64_t groups,
                         std::array<bool, 3> mask) {
  OutputPlan forward;
  if (!group_norm(forward, input, weight, std::nullopt, samples, channels, positions, groups))
    return false;
  const OptionalType type = parameter_type(input, weight, mean, rstd);
  if (!type || !alike(input, grad_out) || grad_out.sizes() != input.sizes() ||
      mean.numel() != samples * groups || rstd.numel() != samples * groups) {
    return false;
  }
  plan.start(input);
  gradient(plan, mask[0], input.sizes(), input.scalar_type(), input.suggest_memory_format());
  gradient(plan, mask[1], {channels}, *type);
  gradient(plan, mask[2], {channels}, *type);
  return true;
}

}  // namespace dl::core::plans
