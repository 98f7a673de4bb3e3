// Plans of elementwise losses with a reduction: MSE, smooth L1, binary cross-entropy.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool pointwise_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction);
bool pointwise_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                             const Tensor& target, const OptionalTensor& weight, int64_t reduction);
// As that without a weight, but contiguous in any layout of the others, as torch makes these.
bool plain_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                         const Tensor& target);

}  // namespace dl::core::plans
