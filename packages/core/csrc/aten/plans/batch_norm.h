// Plans of batch normalization.
#pragma once

#include <array>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool batch_norm(OutputPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training);
bool batch_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const OptionalTensor& weight, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& save_mean,
                         const OptionalTensor& save_invstd, bool train, std::array<bool, 3> mask);

}  // namespace dl::core::plans
