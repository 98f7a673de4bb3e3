// Plan of the gradients of squared and smooth losses; that of the losses is pointwise_loss.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Contiguous in any layout of the arguments, as torch makes these gradients.
bool regression_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                              const Tensor& target);

}  // namespace dl::core::plans
