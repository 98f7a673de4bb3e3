#include "aten/plans/tril.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool triangle(OutputPlan& plan, const Tensor& self) {
  if (!alike(self) || self.dim() < 2) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
