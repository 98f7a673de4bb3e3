// Plans of norms.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/reduction.h"

namespace dl::core::plans {

bool norm(OutputPlan& plan, ReducedValues& values, const Tensor& self,
          const std::optional<at::Scalar>& p, at::OptionalIntArrayRef dims, bool keepdim,
          OptionalType dtype);

}  // namespace dl::core::plans
