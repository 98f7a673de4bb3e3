// Plans of group normalization.
#pragma once

#include <array>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool group_norm(OutputPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t samples, int64_t channels, int64_t positions,
                int64_t groups);
bool group_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                         int64_t samples, int64_t channels, int64_t positions, int64_t groups,
                         std::array<bool, 3> mask);

}  // namespace dl::core::plans
