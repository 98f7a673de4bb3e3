// Plans of cdist: distances between all pairs of rows.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// The first operand, expanded to the batch of both.
struct CdistValues {
  at::Tensor x1;
};

namespace plans {

bool distances(OutputPlan& plan, const Tensor& x1, const Tensor& x2, double p);
bool distances_backward(OutputPlan& plan, CdistValues& values, const Tensor& grad, const Tensor& x1,
                        const Tensor& x2, const Tensor& cdist);

}  // namespace plans
}  // namespace dl::core
