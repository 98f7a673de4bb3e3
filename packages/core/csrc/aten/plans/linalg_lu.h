// Plan of the LU factorization.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Supports partial pivoting only.
bool lu(OutputPlan& plan, const Tensor& A, bool pivot);

}  // namespace dl::core::plans
