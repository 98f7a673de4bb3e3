// Plans of root-mean-square normalisation.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core {

// Without one that was given, that of the type the computation runs in, as in torch.
struct EpsilonValues {
  double epsilon = 0;
};

namespace plans {

bool rms_norm(OutputPlan& plan, EpsilonValues& values, const Tensor& input,
              at::IntArrayRef normalized_shape, const OptionalTensor& weight,
              std::optional<double> eps);
// The contract knows no gradient that is not wanted: both are computed.
bool rms_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                       at::IntArrayRef normalized_shape, const Tensor& rstd,
                       const OptionalTensor& weight);

}  // namespace plans
}  // namespace dl::core
