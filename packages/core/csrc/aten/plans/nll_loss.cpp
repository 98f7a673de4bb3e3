#include "aten/plans/nll_loss.h"

#include "aten/plans/checks.h"

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

// Return true for a vector with one weight for each class.
bool fits_weight(const Tensor& self, const OptionalTensor& weight) {
  if (!weight || !weight->defined()) return true;
  return weight->dim() == 1 && weight->numel() == self.size(self.dim() == 1 ? 0 : 1);
}

}  // namespace

bool nll_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
              const OptionalTensor& weight, int64_t reduction) {
  if (!alike(self, weight) || !floating(self) || !fits_classes(self, target)) return false;
  if (!fits_weight(self, weight)) return false;
  plan.start(self);
  plan.output(reduction == 0 ? at::IntArrayRef(target.sizes()) : at::IntArrayRef(),
              self.scalar_type());
  plan.output({}, self.scalar_type());
  return true;
}

bool nll_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const OptionalTensor& weight,
                       const Tensor& total_weight, int64_t reduction) {
  if (!alike(self, grad_output, weight, total_weight) || !fits_classes(self, target)) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
