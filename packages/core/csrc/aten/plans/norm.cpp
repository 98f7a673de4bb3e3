#include "aten/plans/norm.h"

#include <cmath>

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool norm(OutputPlan& plan, ReducedValues& values, const Tensor& self,
          const std::optional<at::Scalar>& p, at::OptionalIntArrayRef dims, bool keepdim,
          OptionalType dtype) {
  if (!floating(self) || (p && p->isComplex())) return false;
  const at::ScalarType type = dtype.value_or(self.scalar_type());
  // torch rejects a norm in a narrower dtype, or rounds the elements before the sum.
  if (type != self.scalar_type() && type != at::kDouble && type != at::kFloat) return false;
  if (type == at::kFloat && self.scalar_type() == at::kDouble) return false;
  const double order = p ? p->toDouble() : 2.0;
  const bool needs_elements = order < 0 || std::isinf(order);
  return reduction(plan, values, self, dims, keepdim, type,
                   needs_elements ? ReducedType::same : ReducedType::floating);
}

}  // namespace dl::core::plans
