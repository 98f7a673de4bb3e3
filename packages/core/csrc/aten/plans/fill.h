// Plans of fill and of all in-place operators.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool in_place(OutputPlan& plan, const Tensor& self);
bool fill(OutputPlan& plan, const Tensor& self, const at::Scalar& value);

}  // namespace dl::core::plans
