// Plans of normalisations that plans.h does not have.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "aten/composed.h"
#include "aten/plans.h"

namespace dl::core {
namespace composed {

// The CPU has no such operator to fall back to.
struct RmsNormBackward {
  static std::tuple<at::Tensor, at::Tensor> functional(
      const at::Tensor& grad_out, const at::Tensor& input, at::IntArrayRef normalized_shape,
      const at::Tensor& rstd, const std::optional<at::Tensor>& weight, std::array<bool, 2> mask);
};

}  // namespace composed

namespace plans {

bool group_norm(DirectPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t samples, int64_t channels, int64_t positions,
                int64_t groups);
bool group_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                         int64_t samples, int64_t channels, int64_t positions, int64_t groups,
                         std::array<bool, 3> mask);

// As torch: without an eps, that of the type the computation runs in.
double rms_epsilon(const Tensor& input, std::optional<double> eps);
bool rms_norm(DirectPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
              const OptionalTensor& weight);
// The contract knows no gradient that is not wanted: both are computed.
bool rms_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                       at::IntArrayRef normalized_shape, const Tensor& rstd,
                       const OptionalTensor& weight);

}  // namespace plans
}  // namespace dl::core
