#include "aten/plans/gather.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool index_select(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                  const Tensor& index) {
  if (!alike(self) || !on_same_device(self, index) || !is_index(index) || index.dim() > 1)
    return false;
  if (!valid_dim(self, dim)) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (self.dim() == 0) {
    if (index.numel() != 1) return false;
  } else {
    sizes[wrap_dim(self, dim)] = index.numel();
  }
  plan.start(self);
  values.dim = wrap_dim(self, dim);
  plan.output(sizes, self.scalar_type());
  return true;
}

bool gather(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
            const Tensor& index, bool) {
  if (!alike(self) || !on_same_device(self, index) || index.scalar_type() != at::kLong)
    return false;
  // A 0-dim tensor counts as a vector of one element.
  if (count_of(self) != count_of(index) || !valid_dim(self, dim)) return false;
  for (int64_t i = 0; self.dim() > 1 && i < self.dim(); ++i) {
    if (i != wrap_dim(self, dim) && index.size(i) > self.size(i)) return false;
  }
  plan.start(self);
  values.dim = wrap_dim(self, dim);
  plan.output(index.sizes(), self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
