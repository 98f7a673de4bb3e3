// Plans of softmax and log_softmax.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool softmax(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
             bool half_to_float);
bool softmax_backward(OutputPlan& plan, AxisValues& values, const Tensor& grad_output,
                      const Tensor& output, int64_t dim, at::ScalarType input_dtype);

}  // namespace dl::core::plans
