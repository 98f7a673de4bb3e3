#include "aten/plans/sort.h"

#include <ATen/ExpandUtils.h>

#include "aten/layout/strides.h"
#include "aten/plans/checks.h"

namespace dl::core::plans {

bool sort(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
          std::optional<int64_t> count) {
  if (!alike(self) || !valid_dim(self, dim)) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (count) {
    if (self.scalar_type() == at::kBool) return false;
    const int64_t available = self.dim() > 0 ? self.size(wrap_dim(self, dim)) : 1;
    if (*count < 0 || *count > available || (self.dim() == 0 && *count != 1)) return false;
    if (self.dim() > 0) sizes[wrap_dim(self, dim)] = *count;
  }
  plan.start(self);
  values.dim = wrap_dim(self, dim);
  if (!count && !has_standard_strides(self.unsafeGetTensorImpl())) {
    plan.keep_strides(self.is_non_overlapping_and_dense()
                          ? self.strides()
                          : at::IntArrayRef(at::infer_dense_strides(self.sizes(), self.strides())));
    plan.strided_output(sizes, self.scalar_type());
    plan.strided_output(sizes, at::kLong);
    return true;
  }
  plan.output(sizes, self.scalar_type());
  plan.output(sizes, at::kLong);
  return true;
}

}  // namespace dl::core::plans
