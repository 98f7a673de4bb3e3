// Plans of elementwise losses with a reduction: MSE, smooth L1, binary cross-entropy.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool pointwise_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction);

// Returns true if the arguments meet the requirements of the gradients.
bool fits_elements(const Tensor& self, const Tensor& target, const OptionalTensor& weight);
bool fits_gradient(const Tensor& grad_output, const Tensor& self);

// The memory format of the result of torch's elementwise operators on these tensors; empty if it is
// neither contiguous nor channels-last.
std::optional<at::MemoryFormat> common_format(const Tensor& self, const Tensor& target);

}  // namespace dl::core::plans
