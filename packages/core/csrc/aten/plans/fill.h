// Plans of fill, and of every operator that works in place.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool in_place(OutputPlan& plan, const Tensor& self);
bool filled(OutputPlan& plan, const Tensor& self, const at::Scalar& value);

}  // namespace dl::core::plans
