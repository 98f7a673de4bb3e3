// The plan of LU factors.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// With partial pivoting alone.
bool lu(OutputPlan& plan, const Tensor& A, bool pivot);

}  // namespace dl::core::plans
