#include "aten/plans/grad_scaling.h"

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::plans {

bool loss_scale(OutputPlan& plan, const Tensor& scale, const Tensor& growth_tracker,
                const Tensor& found_inf) {
  return scale.numel() == 1 && growth_tracker.numel() == 1 && found_inf.numel() == 1 &&
         scale.scalar_type() == at::kFloat && found_inf.scalar_type() == at::kFloat &&
         growth_tracker.scalar_type() == at::kInt && on_same_device(scale, growth_tracker) &&
         on_same_device(scale, found_inf) && in_place(plan, scale);
}

}  // namespace dl::core::plans
