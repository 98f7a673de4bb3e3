// Plans of reductions, scans and losses.
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include <cmath>

#include "aten/plan_checks.h"
#include "aten/plans_reduction.h"
#include "aten/strides.h"

namespace dl::core::plans {
namespace {

at::ScalarType reduced_type(const Tensor& self, OptionalType dtype, ReducedType kind) {
  if (dtype) return *dtype;
  if (kind == ReducedType::sum && c10::isIntegralType(self.scalar_type(), true)) return at::kLong;
  return self.scalar_type();
}

// The dimensions that go; false when the list is not one that torch takes.
using DimSet = std::bitset<at::dim_bitset_size>;
bool reduced_dims(const Tensor& self, at::OptionalIntArrayRef dims, DimSet& reduced) {
  if (self.dim() > static_cast<int64_t>(at::dim_bitset_size)) return false;
  if (!dims.has_value() || dims->empty()) {
    for (int64_t i = 0; i < self.dim(); ++i) reduced.set(i);
    return true;
  }
  DimSet seen;
  for (const int64_t dim : *dims) {
    if (!valid_dim(self, dim) || seen[wrapped(self, dim)]) return false;
    seen.set(wrapped(self, dim));
  }
  if (self.dim() > 0) reduced = seen;
  return true;
}

DimVector reduced_sizes(const Tensor& self, const DimSet& reduced, bool keepdim) {
  DimVector sizes;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (!reduced[i]) sizes.push_back(self.size(i));
    if (reduced[i] && keepdim) sizes.push_back(1);
  }
  return sizes;
}

// Whether each result is made from at least one element.
bool has_elements(const Tensor& self, const DimSet& reduced) {
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (reduced[i] && self.size(i) == 0) return false;
  }
  return true;
}

}  // namespace

OptionalType result_type(OptionalType dtype, GivenOutputs given) {
  if (dtype || given.size() == 0) return dtype;
  return (*given.begin())->scalar_type();
}

namespace {

// Torch converts the elements before it adds or multiplies them, the contract its sum: 1 and -1
// are two that are true.
bool loses_truth(const Tensor& self, at::ScalarType type) {
  return type == at::kBool && self.scalar_type() != at::kBool;
}

bool reduced(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
             at::ScalarType type, ReducedType kind) {
  if (!alike(self)) return false;
  if (kind == ReducedType::floating && !c10::isFloatingType(type)) return false;
  DimSet gone;
  if (!reduced_dims(self, dims, gone)) return false;
  if (kind == ReducedType::same && !has_elements(self, gone)) return false;
  DimVector list;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (gone[i]) list.push_back(i);
  }
  plan.start(self);
  plan.output(reduced_sizes(self, gone, keepdim), type);
  plan.add_list(list);
  return true;
}

bool reduced_along(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                   at::ScalarType type, ReducedType kind) {
  const at::OptionalIntArrayRef dims =
      dim ? at::OptionalIntArrayRef(at::IntArrayRef(*dim)) : std::nullopt;
  if (!reduced(plan, self, dims, keepdim, type, kind)) return false;
  if (dim) plan.set_dim(wrapped(self, *dim));
  return true;
}

}  // namespace

bool reduction(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
               OptionalType dtype, ReducedType kind) {
  const at::ScalarType type = reduced_type(self, dtype, kind);
  return !loses_truth(self, type) && reduced(plan, self, dims, keepdim, type, kind);
}

bool reduction_along(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                     OptionalType dtype, ReducedType kind) {
  const at::ScalarType type = reduced_type(self, dtype, kind);
  return !loses_truth(self, type) && reduced_along(plan, self, dim, keepdim, type, kind);
}

bool truth(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const at::ScalarType type = self.scalar_type() == at::kByte ? at::kByte : at::kBool;
  return reduced_along(plan, self, dim, keepdim, type, ReducedType::sum);
}

bool deviation(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
               const std::optional<at::Scalar>& correction) {
  if (!floating(self) || !reduction(plan, self, dims, keepdim, std::nullopt, ReducedType::floating))
    return false;
  const diopiSize_t list = plan.list(0);
  double count = 1;
  for (int64_t i = 0; i < list.len; ++i) count *= static_cast<double>(self.size(list.data[i]));
  const double less = correction ? correction->toDouble() : 1.0;
  if (count <= less) {
    TORCH_WARN("std: the correction ", less, " leaves no degrees of freedom of ", count,
               " elements; choose a smaller one.");
  }
  return true;
}

bool norm(DirectPlan& plan, const Tensor& self, const std::optional<at::Scalar>& p,
          at::OptionalIntArrayRef dims, bool keepdim, OptionalType dtype) {
  if (!floating(self) || (p && p->isComplex())) return false;
  const at::ScalarType type = dtype.value_or(self.scalar_type());
  // A norm in a narrower dtype is one that torch refuses, or rounds before it adds up.
  if (type != self.scalar_type() && type != at::kDouble && type != at::kFloat) return false;
  if (type == at::kFloat && self.scalar_type() == at::kDouble) return false;
  const double order = p ? p->toDouble() : 2.0;
  const bool needs_elements = order < 0 || std::isinf(order);
  return reduction(plan, self, dims, keepdim, type,
                   needs_elements ? ReducedType::same : ReducedType::floating);
}

bool arg_reduction(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return self.scalar_type() != at::kBool &&
         reduction_along(plan, self, dim, keepdim, at::kLong, ReducedType::same);
}

bool extremum_along(DirectPlan& plan, const Tensor& self, int64_t dim, bool keepdim) {
  if (!reduction_along(plan, self, dim, keepdim, std::nullopt, ReducedType::same)) return false;
  DimSet reduced;
  if (self.dim() > 0) reduced.set(wrapped(self, dim));
  plan.output(reduced_sizes(self, reduced, keepdim), at::kLong);
  return true;
}

bool sort(DirectPlan& plan, const Tensor& self, int64_t dim, std::optional<int64_t> count) {
  if (!alike(self) || !valid_dim(self, dim)) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (count) {
    const int64_t available = self.dim() > 0 ? self.size(wrapped(self, dim)) : 1;
    if (*count < 0 || *count > available || (self.dim() == 0 && *count != 1)) return false;
    if (self.dim() > 0) sizes[wrapped(self, dim)] = *count;
  }
  plan.start(self);
  plan.set_dim(wrapped(self, dim));
  if (!count && !has_standard_strides(self.unsafeGetTensorImpl())) {
    plan.keep_strides(self.is_non_overlapping_and_dense()
                          ? self.strides()
                          : at::IntArrayRef(at::infer_dense_strides(self.sizes(), self.strides())));
    plan.strided_output(sizes, self.scalar_type());
    plan.strided_output(sizes, at::kLong);
    return true;
  }
  plan.output(sizes, self.scalar_type());
  plan.output(sizes, at::kLong);
  return true;
}

bool distances(DirectPlan& plan, const Tensor& x1, const Tensor& x2, double p) {
  if (!alike(x1, x2) || !floating(x1) || x1.dim() < 2 || x2.dim() < 2 || !(p >= 0)) return false;
  if (x1.size(-1) != x2.size(-1)) return false;
  const int64_t rank = std::max(x1.dim(), x2.dim());
  DimVector sizes;
  for (int64_t i = 0; i < rank - 2; ++i) {
    const int64_t a = i - (rank - x1.dim()), b = i - (rank - x2.dim());
    const int64_t left = a < 0 ? 1 : x1.size(a), right = b < 0 ? 1 : x2.size(b);
    if (left != right && left != 1 && right != 1) return false;
    sizes.push_back(left == 1 ? right : left);
  }
  sizes.push_back(x1.size(-2));
  sizes.push_back(x2.size(-2));
  plan.start(x1);
  plan.output(sizes, x1.scalar_type());
  return true;
}

bool distances_backward(DirectPlan& plan, const Tensor& grad, const Tensor& x1, const Tensor& x2,
                        const Tensor& cdist) {
  if (!alike(x1, grad, x2, cdist) || !floating(x1) || grad.sizes() != cdist.sizes()) return false;
  plan.start(x1);
  plan.output(x1.sizes(), x1.scalar_type());
  return true;
}

bool scan(DirectPlan& plan, const Tensor& self, int64_t dim, OptionalType dtype) {
  const at::ScalarType type = reduced_type(self, dtype, ReducedType::sum);
  if (!alike(self) || !valid_dim(self, dim) || loses_truth(self, type)) return false;
  plan.start(self);
  plan.output(self.sizes(), type);
  plan.set_dim(wrapped(self, dim));
  return true;
}

}  // namespace dl::core::plans
