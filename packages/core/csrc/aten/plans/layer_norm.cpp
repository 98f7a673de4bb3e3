#include "aten/plans/layer_norm.h"

#include "aten/plans/checks.h"
#include "aten/plans/normalization.h"

namespace dl::core::plans {

bool layer_norm(OutputPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
                const OptionalTensor& weight, const OptionalTensor& bias) {
  const OptionalType type = parameter_type(input, weight, bias);
  const int64_t axis = leading_dims(input, normalized_shape);
  if (!type || axis < 0 || !has_sizes(weight, normalized_shape) ||
      !has_sizes(bias, normalized_shape)) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(row_statistics(input, axis), *type);
  plan.output(row_statistics(input, axis), *type);
  return true;
}

bool layer_norm_backward(OutputPlan& plan, const Tensor& grad_out, const Tensor& input,
                         at::IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                         const OptionalTensor& weight, const OptionalTensor& bias,
                         std::array<bool, 3> mask) {
  const OptionalType type = parameter_type(input, weight, bias, mean, rstd);
  if (!type || !alike(input, grad_out)) return false;
  plan.start(input);
  gradient(plan, mask[0], input.sizes(), input.scalar_type());
  gradient(plan, mask[1] && defined(weight), normalized_shape, *type);
  gradient(plan, mask[2] && defined(bias), normalized_shape, *type);
  return true;
}

}  // namespace dl::core::plans
