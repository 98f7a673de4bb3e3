#include "aten/plans/rearrange.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool rotation(OutputPlan& plan, const Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims) {
  if (!alike(self) || self.dim() == 0 || shifts.empty()) return false;
  if (dims.empty() ? shifts.size() != 1 || !self.is_contiguous() : shifts.size() != dims.size())
    return false;
  for (const int64_t dim : dims) {
    if (!is_dim_of(dim, self.dim())) return false;
  }
  plan.start(self);
  if (self.numel() == 0) {  // torch clones an empty tensor, with its strides
    plan.keep_strides(self.strides());
    plan.strided_output(self.sizes(), self.scalar_type());
    return true;
  }
  plan.output(self.sizes(), self.scalar_type(),
              dims.empty() ? c10::MemoryFormat::Contiguous : self.suggest_memory_format());
  return true;
}

}  // namespace dl::core::plans
