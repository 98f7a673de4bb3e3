// Plans of reductions, and helper functions for other families.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

enum class ReducedType { same, sum, floating };
// The reduced dimensions, ascending.
struct ReducedValues {
  DimVector dims;
};
// The reduced dimension; empty if all are reduced.
struct ReducedAxisValues {
  std::optional<int64_t> dim;
};

namespace plans {

bool reduction(OutputPlan& plan, ReducedValues& values, const Tensor& self,
               at::OptionalIntArrayRef dims, bool keepdim, OptionalType dtype, ReducedType kind);
// As `reduction`, over one dimension or over all dimensions.
bool reduction_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                     std::optional<int64_t> dim, bool keepdim, OptionalType dtype,
                     ReducedType kind);
// The dtype of a sum: the requested dtype, otherwise that of a given output.
OptionalType result_type(OptionalType dtype, GivenOutputs given);
// The dtype of a reduction of `self`, where the caller may request `dtype`.
at::ScalarType reduced_type(const Tensor& self, OptionalType dtype, ReducedType kind);
// Returns true if the order of conversion matters: torch converts the elements before it adds or
// multiplies them, the contract converts the result. As booleans, 1 and -1 sum to true.
bool adds_before_converting(const Tensor& self, at::ScalarType type);
bool reduced_along(OutputPlan& plan, ReducedAxisValues& values, const Tensor& self,
                   std::optional<int64_t> dim, bool keepdim, at::ScalarType type, ReducedType kind);

}  // namespace plans
}  // namespace dl::core
