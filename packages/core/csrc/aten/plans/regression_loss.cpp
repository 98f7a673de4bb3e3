#include "aten/plans/regression_loss.h"

#include "aten/plans/pointwise_loss.h"

namespace dl::core::plans {

bool regression_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                              const Tensor& target) {
  if (!fits_elements(self, target, {}) || !fits_gradient(grad_output, self)) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
