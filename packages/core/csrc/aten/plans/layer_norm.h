// Plans of layer normalization.
#pragma once

#include <array>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool layer_norm(OutputPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
                const OptionalTensor& weight, const OptionalTensor& bias);
bool layer_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         at::IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                         const OptionalTensor& weight, const OptionalTensor& bias,
                         std::array<bool, 3> mask);

}  // namespace dl::core::plans
