#include "aten/plans/index_fill.h"

#include "aten/plans/checks.h"
#include "aten/plans/scatter.h"
#include "aten/stored_number.h"

namespace dl::core::plans {

bool slices_filled(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                   const Tensor& index, const at::Scalar& value) {
  return holds(self.scalar_type(), value) && index.dim() <= 1 && index.scalar_type() == at::kLong &&
         indexed(plan, values, self, dim, index);
}

bool slices_filled_from(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& value) {
  return alike(self, value) && value.dim() == 0 && index.dim() <= 1 &&
         index.scalar_type() == at::kLong && indexed(plan, values, self, dim, index);
}

}  // namespace dl::core::plans
