#include "aten/plans/rms_norm.h"

#include <ATen/OpMathType.h>

#include <limits>

#include "aten/plans/checks.h"
#include "aten/plans/normalization.h"

namespace dl::core::plans {
namespace {

double rms_epsilon(const Tensor& input, std::optional<double> eps) {
  if (eps) return *eps;
  return at::toOpMathType(input.scalar_type()) == at::kDouble
             ? std::numeric_limits<double>::epsilon()
             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

}  // namespace

bool rms_norm(OutputPlan& plan, EpsilonValues& values, const Tensor& input,
              at::IntArrayRef normalized_shape, const OptionalTensor& weight,
              std::optional<double> eps) {
  const int64_t axis = leading_dims(input, normalized_shape);
  if (!alike(input, weight) || !floating(input) || axis < 0 || input.numel() == 0 ||
      !has_sizes(weight, normalized_shape)) {
    return false;
  }
  values.epsilon = rms_epsilon(input, eps);
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(row_statistics(input, axis), at::toOpMathType(input.scalar_type()));
  return true;
}

bool rms_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                       at::IntArrayRef normalized_shape, const Tensor& rstd,
                       const OptionalTensor& weight) {
  OutputPlan forward;
  EpsilonValues epsilon;
  if (!rms_norm(forward, epsilon, input, normalized_shape, weight, std::nullopt) ||
      !alike(input, grad_out) || !on_same_device(input, rstd) ||
      grad_out.sizes() != input.sizes()) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(normalized_shape, input.scalar_type());
  return true;
}

}  // namespace dl::core::plans
