// Plans of masked_fill.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool masked_fill(OutputPlan& plan, const Tensor& self, const Tensor& mask, const at::Scalar& value);
bool masked_fill_from(OutputPlan& plan, const Tensor& self, const Tensor& mask,
                      const Tensor& value);

}  // namespace dl::core::plans
