#include "aten/plans_optimizer.h"

#include "aten/plan_checks.h"

namespace dl::core::plans {

bool loss_scale(DirectPlan& plan, const Tensor& scale, const Tensor& growth_tracker,
                const Tensor& found_inf) {
  return scale.numel() == 1 && growth_tracker.numel() == 1 && found_inf.numel() == 1 &&
         scale.scalar_type() == at::kFloat && found_inf.scalar_type() == at::kFloat &&
         growth_tracker.scalar_type() == at::kInt && on_same_device(scale, growth_tracker) &&
         on_same_device(scale, found_inf) && written(plan, scale);
}

}  // namespace dl::core::plans
