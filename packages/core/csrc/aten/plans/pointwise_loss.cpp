#include "aten/plans/pointwise_loss.h"

#include <ATen/ExpandUtils.h>

#include "aten/plans/checks.h"

namespace dl::core::plans {

std::optional<at::MemoryFormat> common_format(const Tensor& self, const Tensor& target) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast,
                            at::MemoryFormat::ChannelsLast3d}) {
    const bool ranks = format == at::MemoryFormat::Contiguous ||
                       self.dim() == (format == at::MemoryFormat::ChannelsLast ? 4 : 5);
    if (ranks && self.is_contiguous(format) && target.is_contiguous(format)) return format;
  }
  return std::nullopt;
}

bool fits_elements(const Tensor& self, const Tensor& target, const OptionalTensor& weight) {
  if (!alike(self, target, weight) || !floating(self) || self.sizes() != target.sizes())
    return false;
  return !weight || !weight->defined() || at::is_expandable_to(weight->sizes(), self.sizes());
}

bool fits_gradient(const Tensor& grad_output, const Tensor& self) {
  return alike(self, grad_output) &&
         (grad_output.dim() == 0 || grad_output.sizes() == self.sizes());
}

bool pointwise_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction) {
  if (!fits_elements(self, target, weight)) return false;
  plan.start(self);
  if (reduction != 0) {
    plan.output({}, self.scalar_type());
    return true;
  }
  const auto format = common_format(self, target);
  if (!format) return false;
  plan.output(self.sizes(), self.scalar_type(), *format);
  return true;
}

}  // namespace dl::core::plans
