#include "aten/plans/binary_cross_entropy.h"

#include "aten/plans/pointwise_loss.h"

namespace dl::core::plans {

bool binary_cross_entropy_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const OptionalTensor& weight) {
  if (!fits_elements(self, target, weight) || !fits_gradient(grad_output, self)) return false;
  const auto format = common_format(self, target);
  if (!format) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), *format);
  return true;
}

}  // namespace dl::core::plans
