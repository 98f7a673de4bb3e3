// Plans of reductions, scans, the softmax family, normalisation and losses.
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

bool valid_dim(const Tensor& self, int64_t dim) {
  const int64_t rank = std::max<int64_t>(self.dim(), 1);
  return dim >= -rank && dim < rank;
}

int64_t wrapped(const Tensor& self, int64_t dim) {
  return dim < 0 ? dim + std::max<int64_t>(self.dim(), 1) : dim;
}

at::ScalarType reduced_type(const Tensor& self, OptionalType dtype, ReducedType kind) {
  if (dtype) return *dtype;
  if (kind == ReducedType::sum && c10::isIntegralType(self.scalar_type(), true)) return at::kLong;
  return self.scalar_type();
}

}  // namespace

bool reduction(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
               OptionalType dtype, ReducedType kind) {
  if (!alike(self)) return false;
  const at::ScalarType type = reduced_type(self, dtype, kind);
  // A vendor reduces in the input's dtype; another result dtype is left to torch, except integer
  // sums.
  if (type != self.scalar_type() &&
      !(type == at::kLong && c10::isIntegralType(self.scalar_type(), true)))
    return false;
  if (kind == ReducedType::floating && !floating(self)) return false;
  if (self.numel() == 0 && kind == ReducedType::same) return false;
  std::bitset<at::dim_bitset_size> reduced;
  if (!dims.has_value() || dims->empty()) {
    for (int64_t i = 0; i < self.dim(); ++i) reduced.set(i);
  } else {
    for (const int64_t dim : *dims) {
      if (!valid_dim(self, dim) || reduced[wrapped(self, dim)]) return false;
      if (self.dim() > 0) reduced.set(wrapped(self, dim));
    }
  }
  DimVector list, sizes;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (reduced[i]) list.push_back(i);
    if (!reduced[i]) sizes.push_back(self.size(i));
    if (reduced[i] && keepdim) sizes.push_back(1);
  }
  plan.start(self);
  plan.output(sizes, type);
  plan.add_list(list);
  return true;
}

bool arg_reduction(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (!alike(self) || self.numel() == 0) return false;
  DimVector sizes;
  if (dim) {
    if (!valid_dim(self, *dim)) return false;
    plan.set_dim(wrapped(self, *dim));
  }
  for (int64_t i = 0; i < self.dim(); ++i) {
    const bool reduced = !dim || i == plan.dim();
    if (!reduced) sizes.push_back(self.size(i));
    if (reduced && keepdim) sizes.push_back(1);
  }
  plan.start(self);
  plan.output(sizes, at::kLong);
  return true;
}

bool scan(DirectPlan& plan, const Tensor& self, int64_t dim, OptionalType dtype) {
  if (!alike(self) || self.dim() == 0 || !valid_dim(self, dim)) return false;
  if (reduced_type(self, dtype, ReducedType::sum) != self.scalar_type()) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  plan.set_dim(wrapped(self, dim));
  return true;
}

bool softmax(DirectPlan& plan, const Tensor& self, int64_t dim, bool half_to_float) {
  if (!alike(self) || !floating(self) || half_to_float || !valid_dim(self, dim) || self.dim() == 0)
    return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  plan.set_dim(wrapped(self, dim));
  return true;
}

bool softmax_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& output,
                      int64_t dim, at::ScalarType input_dtype) {
  if (!alike(grad_output, output) || input_dtype != grad_output.scalar_type()) return false;
  if (grad_output.sizes() != output.sizes()) return false;
  return softmax(plan, output, dim, false);
}

bool layer_norm(DirectPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
                const OptionalTensor& weight, const OptionalTensor& bias) {
  if (!alike(input, weight, bias) || !floating(input)) return false;
  const int64_t axis = input.dim() - static_cast<int64_t>(normalized_shape.size());
  if (axis < 0 || normalized_shape.empty() || input.sizes().slice(axis) != normalized_shape)
    return false;
  for (const OptionalTensor* parameter : {&weight, &bias}) {
    if (*parameter && (*parameter)->defined() && (*parameter)->sizes() != normalized_shape)
      return false;
  }
  DimVector statistics(input.sizes().begin(), input.sizes().end());
  for (int64_t i = axis; i < input.dim(); ++i) statistics[i] = 1;
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type());
  plan.output(statistics, input.scalar_type());
  plan.output(statistics, input.scalar_type());
  return true;
}

bool layer_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         at::IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                         const OptionalTensor& weight, const OptionalTensor& bias,
                         std::array<bool, 3> mask) {
  if (!alike(input, grad_out, mean, rstd, weight, bias) || !floating(input)) return false;
  plan.start(input);
  const bool wanted[3] = {mask[0], mask[1] && weight && weight->defined(),
                          mask[2] && bias && bias->defined()};
  for (int i = 0; i < 3; ++i) {
    if (wanted[i]) {
      plan.output(i == 0 ? input.sizes() : normalized_shape, input.scalar_type());
    } else {
      plan.absent_output();
    }
  }
  return true;
}

bool batch_norm(DirectPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training) {
  if (!alike(input, weight, bias, running_mean, running_var) || !floating(input)) return false;
  if (input.dim() < 2 || input.numel() == 0) return false;
  const bool tracked =
      running_mean && running_mean->defined() && running_var && running_var->defined();
  if (!training && !tracked) return false;
  const DimVector channels = {input.size(1)}, none = {0};
  plan.start(input);
  plan.output(input.sizes(), input.scalar_type(), input.suggest_memory_format());
  plan.output(training ? channels : none, input.scalar_type());
  plan.output(training ? channels : none, input.scalar_type());
  return true;
}

bool batch_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const OptionalTensor& weight, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& save_mean,
                         const OptionalTensor& save_invstd, bool train, std::array<bool, 3> mask) {
  if (!alike(input, grad_out, weight, running_mean, running_var, save_mean, save_invstd))
    return false;
  if (input.dim() < 2 || input.numel() == 0 || !floating(input)) return false;
  const bool saved = save_mean && save_mean->defined() && save_mean->numel() == input.size(1);
  if (train && !saved) return false;
  plan.start(input);
  const DimVector channels = {input.size(1)};
  for (int i = 0; i < 3; ++i) {
    if (mask[i]) {
      plan.output(i == 0 ? input.sizes() : at::IntArrayRef(channels), input.scalar_type(),
                  i == 0 ? input.suggest_memory_format() : c10::MemoryFormat::Contiguous);
    } else {
      plan.absent_output();
    }
  }
  return true;
}

}  // namespace dl::core::plans
