// Plans of gather and index_select.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool index_select(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                  const Tensor& index);
bool gather(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
            const Tensor& index, bool sparse_grad);

}  // namespace dl::core::plans
