// Plans of reductions and orderings, beside those in plans.h.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

// The dtype of a sum: what was asked for, else that of a given output.
OptionalType result_type(OptionalType dtype, GivenOutputs given);

// As `reduction`, over one dimension, which plan.optional_dim() has, or over all.
bool reduction_along(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                     OptionalType dtype, ReducedType kind);
bool truth(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim);
bool deviation(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
               const std::optional<at::Scalar>& correction);
bool norm(DirectPlan& plan, const Tensor& self, const std::optional<at::Scalar>& p,
          at::OptionalIntArrayRef dims, bool keepdim, OptionalType dtype);
// Values and positions.
bool extremum_along(DirectPlan& plan, const Tensor& self, int64_t dim, bool keepdim);
// Values and positions of all elements along a dimension, or of so many.
bool sort(DirectPlan& plan, const Tensor& self, int64_t dim, std::optional<int64_t> count);
bool distances(DirectPlan& plan, const Tensor& x1, const Tensor& x2, double p);
bool distances_backward(DirectPlan& plan, const Tensor& grad, const Tensor& x1, const Tensor& x2,
                        const Tensor& cdist);

}  // namespace dl::core::plans
