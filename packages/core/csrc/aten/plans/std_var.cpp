#include "aten/plans/std_var.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool deviation(OutputPlan& plan, ReducedValues& values, const Tensor& self,
               at::OptionalIntArrayRef dims, bool keepdim,
               const std::optional<at::Scalar>& correction) {
  if (!floating(self) ||
      !reduction(plan, values, self, dims, keepdim, std::nullopt, ReducedType::floating))
    return false;
  double count = 1;
  for (const int64_t dim : values.dims) count *= static_cast<double>(self.size(dim));
  const double less = correction ? correction->toDouble() : 1.0;
  if (count <= less) {
    TORCH_WARN("std or var: the correction ", less, " leaves no degrees of freedom of ", count,
               " elements; choose a smaller one.");
  }
  return true;
}

}  // namespace dl::core::plans
