// Plans of RMS normalization.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core {

// The epsilon; by default the machine epsilon of the computation's dtype, as in torch.
struct EpsilonValues {
  double epsilon = 0;
};

namespace plans {

bool rms_norm(OutputPlan& plan, EpsilonValues& values, const Tensor& input,
              at::IntArrayRef normalized_shape, const OptionalTensor& weight,
              std::optional<double> eps);
// The contract computes both gradients, including one that is not requested.
bool rms_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                       at::IntArrayRef normalized_shape, const Tensor& rstd,
                       const OptionalTensor& weight);

}  // namespace plans
}  // namespace dl::core
