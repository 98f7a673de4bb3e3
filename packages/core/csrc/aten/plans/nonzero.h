// Plans of nonzero and masked_select, whose outputs the vendor allocates after counting.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool nonzero(OutputPlan& plan, const Tensor& self);
bool masked_select(OutputPlan& plan, const Tensor& self, const Tensor& mask);

}  // namespace dl::core::plans
