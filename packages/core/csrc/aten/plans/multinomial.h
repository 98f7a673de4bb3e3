// Plans of multinomial sampling.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool multinomial(OutputPlan& plan, const Tensor& self, int64_t num_samples, bool replacement);

}  // namespace dl::core::plans
