// Plans of tril and triu.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool triangle(OutputPlan& plan, const Tensor& self);

}  // namespace dl::core::plans
