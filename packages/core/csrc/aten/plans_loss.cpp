#include "aten/plans_loss.h"

#include <ATen/ExpandUtils.h>

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

bool fits_classes(const Tensor& self, const Tensor& target) {
  if (!on_same_device(self, target) || target.scalar_type() != at::kLong) return false;
  if (self.dim() == 0 || self.dim() == 3 || self.dim() > 4 || self.numel() == 0) return false;
  const auto sizes = self.sizes();
  if (self.dim() == 1) return target.dim() == 0;
  return target.dim() == self.dim() - 1 && target.size(0) == sizes[0] &&
         target.sizes().slice(1) == sizes.slice(2);
}

int64_t class_count(const Tensor& self) { return self.size(self.dim() == 1 ? 0 : 1); }

// How torch lays out the result of an elementwise operator on these; nothing where it is neither
// plain nor channels last.
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

}  // namespace

bool nll_loss(DirectPlan& plan, const Tensor& self, const Tensor& target,
              const OptionalTensor& weight, int64_t reduction) {
  if (!alike(self, weight) || !floating(self) || !fits_classes(self, target)) return false;
  if (weight && weight->defined() && weight->numel() != class_count(self)) return false;
  plan.start(self);
  plan.set_reduction(reduction);
  plan.output(reduction == 0 ? at::IntArrayRef(target.sizes()) : at::IntArrayRef(),
              self.scalar_type());
  plan.output({}, self.scalar_type());
  return true;
}

bool nll_loss_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const OptionalTensor& weight,
                       const Tensor& total_weight, int64_t reduction) {
  if (!alike(self, grad_output, weight, total_weight) || !fits_classes(self, target)) return false;
  plan.start(self);
  plan.set_reduction(reduction);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

bool pointwise_loss(DirectPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction) {
  if (!fits_elements(self, target, weight)) return false;
  plan.start(self);
  plan.set_reduction(reduction);
  if (reduction != 0) {
    plan.output({}, self.scalar_type());
    return true;
  }
  const auto format = common_format(self, target);
  if (!format) return false;
  plan.output(self.sizes(), self.scalar_type(), *format);
  return true;
}

bool pointwise_loss_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                             const Tensor& target, const OptionalTensor& weight,
                             int64_t reduction) {
  if (!fits_elements(self, target, weight) || !alike(self, grad_output)) return false;
  if (grad_output.dim() != 0 && grad_output.sizes() != self.sizes()) return false;
  const auto format = common_format(self, target);
  if (!format) return false;
  plan.start(self);
  plan.set_reduction(reduction);
  plan.output(self.sizes(), self.scalar_type(), *format);
  return true;
}

}  // namespace dl::core::plans
