#include "aten/plans/argmax.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool arg_reduction(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                   std::optional<int64_t> dim, bool keepdim) {
  return self.scalar_type() != at::kBool && !self.is_complex() &&
         reduction_along(plan, values, self, dim, keepdim, at::kLong, ReducedType::same);
}

bool extremum_along(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    bool keepdim) {
  // Vendors do not check the dtype of empty inputs.
  if (self.is_complex()) return false;
  ReducedAxisValues along;
  if (!reduction_along(plan, along, self, dim, keepdim, std::nullopt, ReducedType::same))
    return false;
  values.dim = *along.dim;
  plan.output(plan.sizes(0), at::kLong);
  return true;
}

}  // namespace dl::core::plans
