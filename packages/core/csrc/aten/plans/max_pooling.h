// Plans of max pooling over planes (two axes) and volumes (three).
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/pooling.h"

namespace dl::core::plans {

bool max_pool(OutputPlan& plan, WindowValues& values, int64_t spatial, const Tensor& self,
              at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
              at::IntArrayRef dilation, bool ceil_mode);
bool max_pool_backward(OutputPlan& plan, WindowValues& values, int64_t spatial,
                       const Tensor& grad_output, const Tensor& self, at::IntArrayRef kernel,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                       bool ceil_mode, const Tensor& indices);
bool fractional_pool_backward(OutputPlan& plan, int64_t spatial, const Tensor& grad_output,
                              const Tensor& self, at::IntArrayRef output_size,
                              const Tensor& indices);

}  // namespace dl::core::plans
