#include "aten/plans/index_fill.h"

#include "aten/plans/checks.h"
#include "aten/plans/scatter.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::plans {

bool index_fill(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                const Tensor& index, const at::Scalar& value) {
  return holds(self.scalar_type(), value) && index.dim() <= 1 && index.scalar_type() == at::kLong &&
         index_dim(plan, values, self, dim, index);
}

bool index_fill_tensor(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                       const Tensor& index, const Tensor& value) {
  return alike(self, value) && value.dim() == 0 && index.dim() <= 1 &&
         index.scalar_type() == at::kLong && index_dim(plan, values, self, dim, index);
}

}  // namespace dl::core::plans
