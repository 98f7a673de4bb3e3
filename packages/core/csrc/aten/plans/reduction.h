// Plans of reductions, and what those of other families share.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

enum class ReducedType { same, sum, floating };
// The dimensions that a reduction removes, ascending.
struct ReducedValues {
  DimVector dims;
};
// The one dimension that a reduction removes; none where it removes all.
struct ReducedAxisValues {
  std::optional<int64_t> dim;
};

namespace plans {

bool reduction(OutputPlan& plan, ReducedValues& values, const Tensor& self,
               at::OptionalIntArrayRef dims, bool keepdim, OptionalType dtype, ReducedType kind);
// As `reduction`, over one dimension or over all.
bool reduction_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                     std::optional<int64_t> dim, bool keepdim, OptionalType dtype,
                     ReducedType kind);
// The dtype of a sum: what was asked for, else that of a given output.
OptionalType result_type(OptionalType dtype, GivenOutputs given);
// The dtype of a reduction of `self` where the caller asks for `dtype` or for none.
at::ScalarType reduced_type(const Tensor& self, OptionalType dtype, ReducedType kind);
// Torch converts the elements before it adds or multiplies them, the contract its sum: 1 and -1
// are two that are true.
bool adds_before_converting(const Tensor& self, at::ScalarType type);
bool reduced_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                   std::optional<int64_t> dim, bool keepdim, at::ScalarType type, ReducedType kind);

}  // namespace plans
}  // namespace dl::core
