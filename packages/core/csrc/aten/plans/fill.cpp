#include "aten/plans/fill.h"

#include "aten/plans/checks.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::plans {
namespace {

// Writing to a view that overlaps itself is undefined; torch rejects it.
bool writable(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return true;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.size(i) > 1 && self.stride(i) == 0) return false;
  }
  return true;
}

}  // namespace

bool in_place(OutputPlan& plan, const Tensor& self) {
  if (!alike(self) || !writable(self)) return false;
  plan.start(self);
  return true;
}

bool fill(OutputPlan& plan, const Tensor& self, const at::Scalar& value) {
  if (!alike(self) || !holds(self.scalar_type(), value)) return false;
  return in_place(plan, self);
}

}  // namespace dl::core::plans
