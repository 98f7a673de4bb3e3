#include "aten/plans/any_all.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool any_all(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
             std::optional<int64_t> dim, bool keepdim) {
  const at::ScalarType type = self.scalar_type() == at::kByte ? at::kByte : at::kBool;
  return reduced_along(plan, values, self, dim, keepdim, type, ReducedType::sum);
}

}  // namespace dl::core::plans
