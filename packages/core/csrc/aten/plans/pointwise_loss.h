// Plans of losses that are computed element by element, with a reduction: MSE, smooth L1, binary
// cross-entropy.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool pointwise_loss(OutputPlan& plan, const Tensor& self, const Tensor& target,
                    const OptionalTensor& weight, int64_t reduction);

// What their gradients ask of the arguments.
bool fits_elements(const Tensor& self, const Tensor& target, const OptionalTensor& weight);
bool fits_gradient(const Tensor& grad_output, const Tensor& self);

// How torch lays out the result of an elementwise operator on these; nothing where it is neither
// plain nor channels last.
std::optional<at::MemoryFormat> common_format(const Tensor& self, const Tensor& target);

}  // namespace dl::core::plans
