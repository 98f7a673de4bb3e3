#include "aten/plans_normalization.h"

#include <ATen/OpMathType.h>

#include <limits>

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

bool defined(const Tensor& tensor) { return tensor.defined(); }
bool defined(const OptionalTensor& tensor) { return tensor && tensor->defined(); }
const Tensor& value(const Tensor& tensor) { return tensor; }
const Tensor& value(const OptionalTensor& tensor) { return *tensor; }

// The one type of all parameters and statistics: that of the input, or the type that a half input
// is computed in; without parameters the input's. Nothing when they do not agree or lie elsewhere.
template <typename... Parameters>
OptionalType parameter_type(const Tensor& input, const Parameters&... parameters) {
  if (!alike(input) || !floating(input)) return std::nullopt;
  OptionalType type;
  bool fits = true;
  const auto look = [&](const auto& parameter) {
    if (!defined(parameter)) return;
    const at::ScalarType has = value(parameter).scalar_type();
    fits &= on_same_device(input, parameter) && (!type || *type == has);
    type = has;
  };
  (look(parameters), ...);
  if (!type) return input.scalar_type();
  fits &= *type == input.scalar_type() || *type == at::toOpMathType(input.scalar_type());
  return fits ? type : std::nullopt;
}

// How many leading dimensions are not normalised; -1 when the shapes do not fit.
int64_t leading_dims(const Tensor& input, at::IntArrayRef normalized_shape) {
  const int64_t axis = input.dim() - static_cast<int64_t>(normalized_shape.size());
  if (axis < 0 || normalized_shape.empty() || input.sizes().slice(axis) != normalized_shape)
    return -1;
  return axis;
}

DimVector row_statistics(const Tensor& input, int64_t axis) {
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  for (int64_t i = axis; i < input.dim(); ++i) sizes[i] = 1;
  return sizes;
}

bool has_sizes(const OptionalTensor& tensor, at::IntArrayRef sizes) {
  return !defined(tensor) || tensor->sizes() == sizes;
}

void gradient(DirectPlan& plan, bool wanted, at::IntArrayRef sizes, at::ScalarType type,
              c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
  if (wanted) {
    plan.output(sizes, type, format);
  } else {
    plan.absent_output();
  }
}

}  // namespace

bool layer_norm(DirectPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
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

bool layer_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
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

bool batch_norm(DirectPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training) {
  const OptionalType type = parameter_type(input, weight, bias, running_mean, running_var);
  if (!type || input.dim() < 2 || input.numel() == 0) return false;
  if (!training && !(defined(running_mean) && defined(running_var))) return false;
  const DimVector channels = {input.size(1)}, none = {0};
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type(), input.suggest_memory_format());
  plan.output(training ? channels : none, *type);
  plan.output(training ? channels : none, *type);
  return true;
}

bool batch_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const OptionalTensor& weight, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& save_mean,
                         const OptionalTensor& save_invstd, bool train, std::array<bool, 3> mask) {
  const auto used = [&](const OptionalTensor& saved) { return train ? saved : OptionalTensor(); };
  const OptionalType type =
      parameter_type(input, weight, running_mean, running_var, used(save_mean), used(save_invstd));
  if (!type || !alike(input, grad_out) || input.dim() < 2 || input.numel() == 0) return false;
  const bool saved = defined(save_mean) && save_mean->numel() == input.size(1);
  if (train ? !saved : !(defined(running_mean) && defined(running_var))) return false;
  plan.start(input);
  const DimVector channels = {input.size(1)};
  gradient(plan, mask[0], input.sizes(), input.scalar_type(), input.suggest_memory_format());
  gradient(plan, mask[1], channels, *type);
  gradient(plan, mask[2], channels, *type);
  return true;
}

bool group_norm(DirectPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t samples, int64_t channels, int64_t positions,
                int64_t groups) {
  const OptionalType type = parameter_type(input, weight, bias);
  if (!type || input.dim() < 2 || input.numel() == 0) return false;
  if (input.size(0) != samples || input.size(1) != channels ||
      input.numel() != samples * channels * positions || groups < 1 || channels % groups != 0 ||
      !has_sizes(weight, {channels}) || !has_sizes(bias, {channels})) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type(), input.suggest_memory_format());
  plan.output({samples, groups}, *type);
  plan.output({samples, groups}, *type);
  return true;
}

bool group_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                         int64_t samples, int64_t channels, int64_t positions, int64_t groups,
                         std::array<bool, 3> mask) {
  DirectPlan forward;
  if (!group_norm(forward, input, weight, std::nullopt, samples, channels, positions, groups))
    return false;
  const OptionalType type = parameter_type(input, weight, mean, rstd);
  if (!type || !alike(input, grad_out) || grad_out.sizes() != input.sizes() ||
      mean.numel() != samples * groups || rstd.numel() != samples * groups) {
    return false;
  }
  plan.start(input);
  gradient(plan, mask[0], input.sizes(), input.scalar_type(), input.suggest_memory_format());
  gradient(plan, mask[1], {channels}, *type);
  gradient(plan, mask[2], {channels}, *type);
  return true;
}

double rms_epsilon(const Tensor& input, std::optional<double> eps) {
  if (eps) return *eps;
  return at::toOpMathType(input.scalar_type()) == at::kDouble
             ? std::numeric_limits<double>::epsilon()
             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

bool rms_norm(DirectPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
              const OptionalTensor& weight) {
  const int64_t axis = leading_dims(input, normalized_shape);
  if (!alike(input, weight) || !floating(input) || axis < 0 || input.numel() == 0 ||
      !has_sizes(weight, normalized_shape)) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(row_statistics(input, axis), at::toOpMathType(input.scalar_type()));
  return true;
}

bool rms_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                       at::IntArrayRef normalized_shape, const Tensor& rstd,
                       const OptionalTensor& weight) {
  DirectPlan forward;
  if (!rms_norm(forward, input, normalized_shape, weight) || !alike(input, grad_out) ||
      !on_same_device(input, rstd) || grad_out.sizes() != input.sizes()) {
    return false;
  }
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(normalized_shape, input.scalar_type());
  return true;
}

}  // namespace dl::core::plans
