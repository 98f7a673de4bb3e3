#include "aten/plans/where.h"

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::plans {

bool masked_fill(OutputPlan& plan, const Tensor& self, const Tensor& mask,
                 const at::Scalar& value) {
  if (!on_same_device(self, mask) || mask.scalar_type() != at::kBool || mask.dim() > self.dim())
    return false;
  for (int64_t i = 1; i <= mask.dim(); ++i) {
    if (mask.size(-i) != 1 && mask.size(-i) != self.size(-i)) return false;
  }
  return fill(plan, self, value);
}

bool masked_fill_from(OutputPlan& plan, const Tensor& self, const Tensor& mask,
                      const Tensor& value) {
  return alike(self, value) && value.dim() == 0 && apart(self, value) &&
         masked_fill(plan, self, mask, at::Scalar(0));
}

}  // namespace dl::core::plans
