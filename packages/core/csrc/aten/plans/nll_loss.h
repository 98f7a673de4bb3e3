// Plans of the negative log-likelihood loss.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// `self` is [C], [N, C] or [N, C, H, W] for C classes; `target` has no class dimension.
bool nll_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
              const OptionalTensor& weight, int64_t reduction);
bool nll_loss_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const OptionalTensor& weight,
                       const Tensor& total_weight, int64_t reduction);

}  // namespace dl::core::plans
