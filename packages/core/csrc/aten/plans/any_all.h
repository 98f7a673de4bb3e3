// Plans of any and all.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/reduction.h"

namespace dl::core::plans {

bool any_all(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
             std::optional<int64_t> dim, bool keepdim);

}  // namespace dl::core::plans
