// Plan of the gradients of MSE and smooth L1; the plan of the losses is pointwise_loss.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// The outputs are contiguous for any layout of the arguments, as torch allocates these gradients.
bool regression_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                              const Tensor& target);

}  // namespace dl::core::plans
