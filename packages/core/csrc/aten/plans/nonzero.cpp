#include "aten/plans/nonzero.h"

#include <algorithm>

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool nonzero(OutputPlan& plan, const Tensor& self) {
  if (!alike(self)) return false;
  plan.start(self);
  plan.take_by_columns();
  return true;
}

bool masked_select(OutputPlan& plan, const Tensor& self, const Tensor& mask) {
  if (!alike(self) || !on_same_device(self, mask) || mask.scalar_type() != at::kBool) return false;
  for (int64_t i = 1; i <= std::min(self.dim(), mask.dim()); ++i) {
    if (self.size(-i) != mask.size(-i) && self.size(-i) != 1 && mask.size(-i) != 1) return false;
  }
  plan.start(self);
  return true;
}

}  // namespace dl::core::plans
