// Plans of index_fill.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool slices_filled(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                   const Tensor& index, const at::Scalar& value);
bool slices_filled_from(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& value);

}  // namespace dl::core::plans
