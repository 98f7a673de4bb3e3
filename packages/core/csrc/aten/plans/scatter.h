// Plans of scatter along a dimension.
#pragma once

#include <string_view>

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool scattered(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& src);
bool scattered_by(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                  const Tensor& index, const Tensor& src, std::string_view reduce);
bool scattered_number(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                      const Tensor& index, const at::Scalar& value);
bool scattered_number_by(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                         const Tensor& index, const at::Scalar& value, std::string_view reduce);
// A dimension and an index of it, of a tensor that is written in place.
bool indexed(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
             const Tensor& index);

}  // namespace dl::core::plans
