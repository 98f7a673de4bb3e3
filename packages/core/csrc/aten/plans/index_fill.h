// Plans of index_fill.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool index_fill(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                const Tensor& index, const at::Scalar& value);
bool index_fill_tensor(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                       const Tensor& index, const Tensor& value);

}  // namespace dl::core::plans
