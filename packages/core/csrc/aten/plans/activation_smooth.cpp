#include "aten/plans/activation_smooth.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool log_sigmoid(OutputPlan& plan, const Tensor& self) {
  const auto format = self.suggest_memory_format();
  if (!alike(self) || !floating(self) || !self.is_contiguous(format)) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), format);
  plan.output(self.sizes(), self.scalar_type(), format);
  return true;
}

}  // namespace dl::core::plans
