#include "aten/plans/multinomial.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

// torch's multinomial rejects a larger number, because indices must be exact in float32.
constexpr int64_t kMostCategories = int64_t{1} << 24;

}  // namespace

bool multinomial(OutputPlan& plan, const Tensor& self, int64_t num_samples, bool replacement) {
  if (!alike(self) || !floating(self) || self.dim() < 1 || self.dim() > 2) return false;
  const int64_t categories = self.size(-1);
  if (categories < 1 || categories > kMostCategories || num_samples < 1) return false;
  if (!replacement && num_samples > categories) return false;
  plan.start(self);
  if (self.dim() == 1) {
    plan.output({num_samples}, at::kLong);
  } else {
    plan.output({self.size(0), num_samples}, at::kLong);
  }
  return true;
}

}  // namespace dl::core::plans
