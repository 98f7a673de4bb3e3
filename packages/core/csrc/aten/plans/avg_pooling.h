// Plans of average pooling over planes (two axes) and volumes (three).
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/pooling.h"

namespace dl::core::plans {

bool avg_pool(OutputPlan& plan, WindowValues& values, int64_t spatial, const Tensor& self,
              at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
              bool ceil_mode, std::optional<int64_t> divisor);
bool avg_pool_backward(OutputPlan& plan, WindowValues& values, int64_t spatial,
                       const Tensor& grad_output, const Tensor& self, at::IntArrayRef kernel,
                       at::IntArrayRef stride, at::IntArrayRef padding, bool ceil_mode,
                       std::optional<int64_t> divisor);

}  // namespace dl::core::plans
