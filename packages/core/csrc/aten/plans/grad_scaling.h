// Plan of the update of the loss scale.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool loss_scale(OutputPlan& plan, const Tensor& scale, const Tensor& growth_tracker,
                const Tensor& found_inf);

}  // namespace dl::core::plans
