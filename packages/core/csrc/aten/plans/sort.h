// Plans of sort and topk.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Values and indices of all elements along a dimension, or of the first k.
bool sort(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
          std::optional<int64_t> count);

}  // namespace dl::core::plans
