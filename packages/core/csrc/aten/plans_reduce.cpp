// Plans of reductions, scans and losses.
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

bool nll_loss(DirectPlan& plan, const Tensor& self, const Tensor& target,
              const OptionalTensor& weight, int64_t reduction) {
  if (!alike(self, weight) || !floating(self) || self.dim() != 2 || target.dim() != 1) return false;
  if (!on_same_device(self, target) || target.scalar_type() != at::kLong ||
      self.size(0) != target.size(0)) {
    return false;
  }
  if (weight && weight->defined() && weight->numel() != self.size(1)) return false;
  if (self.numel() == 0) return false;
  plan.start(self);
  plan.set_reduction(reduction);
  plan.output(reduction == 0 ? at::IntArrayRef(target.sizes()) : at::IntArrayRef(),
              self.scalar_type());
  plan.output({}, self.scalar_type());
  return true;
}

bool nll_loss_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const OptionalTensor& weight,
                       const Tensor& total_weight, int64_t reduction) {
  if (!alike(self, grad_output, weight, total_weight) || self.dim() != 2 || target.dim() != 1)
    return false;
  if (!on_same_device(self, target) || target.scalar_type() != at::kLong || self.numel() == 0)
    return false;
  plan.start(self);
  plan.set_reduction(reduction);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
