// Plans of scatter along a dimension.
#pragma once

#include <string_view>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool scatter(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
             const Tensor& index, const Tensor& src);
bool scatter_reduce(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    const Tensor& index, const Tensor& src, std::string_view reduce);
bool scatter_scalar(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    const Tensor& index, const at::Scalar& value);
bool scatter_scalar_reduce(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                           const Tensor& index, const at::Scalar& value, std::string_view reduce);
// Checks a dimension and an index tensor for a tensor that is written in place.
bool index_dim(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
               const Tensor& index);

}  // namespace dl::core::plans
