// Plans of standard deviations.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/reduction.h"

namespace dl::core::plans {

bool deviation(OutputPlan& plan, ReducedValues& values, const Tensor& self,
               at::OptionalIntArrayRef dims, bool keepdim,
               const std::optional<at::Scalar>& correction);

}  // namespace dl::core::plans
