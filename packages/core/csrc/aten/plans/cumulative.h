// Plans of cumsum.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/reduction.h"

namespace dl::core::plans {

bool scan(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
          OptionalType dtype);

}  // namespace dl::core::plans
