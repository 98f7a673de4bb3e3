// Plans of roll.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool rotation(OutputPlan& plan, const Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims);

}  // namespace dl::core::plans
