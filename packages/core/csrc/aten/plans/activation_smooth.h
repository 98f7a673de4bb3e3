// Plans of log_sigmoid, which has two outputs.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool log_sigmoid(OutputPlan& plan, const Tensor& self);

}  // namespace dl::core::plans
