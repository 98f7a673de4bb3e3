// Plans of concatenation and stacking.
#pragma once

#include <ATen/core/IListRef.h>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool concatenation(OutputPlan& plan, AxisValues& values, const at::ITensorListRef& tensors,
                   int64_t dim);
bool stack(OutputPlan& plan, AxisValues& values, at::TensorList tensors, int64_t dim);

}  // namespace dl::core::plans
