#include "aten/plans/batch_norm.h"

#include "aten/plans/checks.h"
#include "aten/plans/normalization.h"
#include "memory/silent_writes.h"

namespace dl::core::plans {
namespace {

// torch reads parameters and statistics per channel, and accepts only 1-D tensors.
template <typename... Parameters>
bool by_channel(const Parameters&... parameters) {
  return (... && (!defined(parameters) || parameters->dim() == 1));
}

}  // namespace

bool batch_norm(OutputPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training) {
  const OptionalType type = parameter_type(input, weight, bias, running_mean, running_var);
  if (!type || input.dim() < 2 || input.numel() == 0) return false;
  if (!training && !(defined(running_mean) && defined(running_var))) return false;
  if (!by_channel(weight, bias, running_mean, running_var)) return false;
  if (defined(running_mean) != defined(running_var)) return false;
  const DimVector channels = {input.size(1)}, none = {0};
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type(), input.suggest_memory_format());
  plan.output(training ? channels : none, *type);
  plan.output(training ? channels : none, *type);
  if (training && (defined(running_mean) || defined(running_var))) count_silent_write();
  return true;
}

bool batch_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const OptionalTensor& weight, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& save_mean,
                         const OptionalTensor& save_invstd, bool train, std::array<bool, 3> mask) {
  const auto used = [&](const OptionalTensor& saved) { return train ? saved : OptionalTensor(); };
  const OptionalType type =
      parameter_type(input, weight, running_mean, running_var, used(save_mean), used(save_invstd));
  if (!type || !alike(input, grad_out) || input.dim() < 2 || input.numel() == 0) return false;
  const bool saved = defined(save_mean) && save_mean->numel() == input.size(1);
  if (train ? !saved : !(defined(running_mean) && defined(running_var))) return false;
  plan.start(input);
  const DimVector channels = {input.size(1)};
  gradient(plan, mask[0], input.sizes(), input.scalar_type(), input.suggest_memory_format());
  gradient(plan, mask[1], channels, *type);
  gradient(plan, mask[2], channels, *type);
  return true;
}

}  // namespace dl::core::plans
