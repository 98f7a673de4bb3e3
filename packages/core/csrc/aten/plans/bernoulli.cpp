#include "aten/plans/bernoulli.h"

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::plans {

bool bernoulli_probabilities(OutputPlan& plan, BernoulliValues& values, const Tensor& self,
                             const Tensor& p) {
  if (!on_same_device(self, p) || !floating(p) || p.dim() > self.dim()) return false;
  for (int64_t i = 1; i <= p.dim(); ++i) {
    if (p.size(-i) != 1 && p.size(-i) != self.size(-i)) return false;
  }
  values.probabilities = p.expand_as(self);
  return in_place(plan, self);
}

}  // namespace dl::core::plans
