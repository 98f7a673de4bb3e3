#include "aten/plans/reduction.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

// Reads the reduced dimensions; returns false for a list that torch rejects.
using DimSet = std::bitset<at::dim_bitset_size>;

bool reduced_dims(const Tensor& self, at::OptionalIntArrayRef dims, DimSet& reduced) {
  if (self.dim() > static_cast<int64_t>(at::dim_bitset_size)) return false;
  if (!dims.has_value() || dims->empty()) {
    for (int64_t i = 0; i < self.dim(); ++i) reduced.set(i);
    return true;
  }
  DimSet seen;
  for (const int64_t dim : *dims) {
    if (!valid_dim(self, dim) || seen[wrap_dim(self, dim)]) return false;
    seen.set(wrap_dim(self, dim));
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

// Returns true if each result is computed from at least one element.
bool has_elements(const Tensor& self, const DimSet& reduced) {
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (reduced[i] && self.size(i) == 0) return false;
  }
  return true;
}

bool plan_reduction(OutputPlan& plan, DimVector& list, const Tensor& self,
                    at::OptionalIntArrayRef dims, bool keepdim, at::ScalarType type,
                    ReducedType kind) {
  if (!alike(self)) return false;
  if (kind == ReducedType::floating && !c10::isFloatingType(type)) return false;
  DimSet gone;
  if (!reduced_dims(self, dims, gone)) return false;
  if (kind == ReducedType::same && !has_elements(self, gone)) return false;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (gone[i]) list.push_back(i);
  }
  plan.start(self);
  plan.output(reduced_sizes(self, gone, keepdim), type);
  return true;
}

}  // namespace

OptionalType result_type(OptionalType dtype, GivenOutputs given) {
  if (dtype || given.size() == 0) return dtype;
  return (*given.begin())->scalar_type();
}

at::ScalarType reduced_type(const Tensor& self, OptionalType dtype, ReducedType kind) {
  if (dtype) return *dtype;
  if (kind == ReducedType::sum && c10::isIntegralType(self.scalar_type(), true)) return at::kLong;
  return self.scalar_type();
}

// Returns true if the order of conversion matters: torch converts the elements before it adds or
// multiplies them, the contract converts the result. As booleans, 1 and -1 sum to true.
bool adds_before_converting(const Tensor& self, at::ScalarType type) {
  return type == at::kBool && self.scalar_type() != at::kBool;
}

bool reduced_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                   std::optional<int64_t> dim, bool keepdim, at::ScalarType type,
                   ReducedType kind) {
  const at::OptionalIntArrayRef dims =
      dim ? at::OptionalIntArrayRef(at::IntArrayRef(*dim)) : std::nullopt;
  DimVector list;
  if (!plan_reduction(plan, list, self, dims, keepdim, type, kind)) return false;
  if (dim) values.dim = wrap_dim(self, *dim);
  return true;
}

bool reduction(OutputPlan& plan, ReducedValues& values, const Tensor& self,
               at::OptionalIntArrayRef dims, bool keepdim, OptionalType dtype, ReducedType kind) {
  const at::ScalarType type = reduced_type(self, dtype, kind);
  return !adds_before_converting(self, type) &&
         plan_reduction(plan, values.dims, self, dims, keepdim, type, kind);
}

bool reduction_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                     std::optional<int64_t> dim, bool keepdim, OptionalType dtype,
                     ReducedType kind) {
  const at::ScalarType type = reduced_type(self, dtype, kind);
  return !adds_before_converting(self, type) &&
         reduced_along(plan, values, self, dim, keepdim, type, kind);
}

}  // namespace dl::core::plans
