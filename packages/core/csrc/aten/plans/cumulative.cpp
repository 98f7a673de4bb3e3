#include "aten/plans/cumulative.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool scan(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
          OptionalType dtype) {
  const at::ScalarType type = reduced_type(self, dtype, ReducedType::sum);
  if (!alike(self) || !valid_dim(self, dim) || adds_before_converting(self, type)) return false;
  plan.start(self);
  plan.output(self.sizes(), type);
  values.dim = wrap_dim(self, dim);
  return true;
}

}  // namespace dl::core::plans
