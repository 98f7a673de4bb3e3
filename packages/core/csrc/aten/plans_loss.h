// Plans of losses and their gradients.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

// Of classes: `self` is [C], [N, C] or [N, C, H, W], `target` has no class dimension.
bool nll_loss(DirectPlan& plan, const Tensor& self, const Tensor& target,
              const OptionalTensor& weight, int64_t reduction);
bool nll_loss_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const OptionalTensor& weight,
                       const Tensor& total_weight, int64_t reduction);

// Of every element, with all tensors of one shape but for the weight, which broadcasts.
bool pointwise_loss(DirectPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction);
bool pointwise_loss_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                             const Tensor& target, const OptionalTensor& weight, int64_t reduction);

}  // namespace dl::core::plans
