// Plans of cdist: distances between all pairs of rows.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool distances(OutputPlan& plan, const Tensor& x1, const Tensor& x2, double p);
bool distances_backward(OutputPlan& plan, const Tensor& grad, const Tensor& x1, const Tensor& x2,
                        const Tensor& cdist);

}  // namespace dl::core::plans
