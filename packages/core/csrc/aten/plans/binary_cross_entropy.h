// Plan of the gradient of binary cross-entropy; the plan of the loss is pointwise_loss.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool binary_cross_entropy_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const OptionalTensor& weight);

}  // namespace dl::core::plans
