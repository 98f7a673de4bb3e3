// Plans of argmax and argmin, and of max and min with indices.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/reduction.h"

namespace dl::core::plans {

bool arg_reduction(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                   std::optional<int64_t> dim, bool keepdim);
// Values and indices.
bool extremum_along(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    bool keepdim);

}  // namespace dl::core::plans
