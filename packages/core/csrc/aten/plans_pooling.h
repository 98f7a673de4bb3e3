// Plans of pooling over planes (two axes) and volumes (three). Lists: kernel, stride, padding and,
// for maxima, dilation.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

bool max_pool(DirectPlan& plan, int64_t spatial, const Tensor& self, at::IntArrayRef kernel,
              at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
              bool ceil_mode);
bool max_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                       const Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode,
                       const Tensor& indices);
bool avg_pool(DirectPlan& plan, int64_t spatial, const Tensor& self, at::IntArrayRef kernel,
              at::IntArrayRef stride, at::IntArrayRef padding, bool ceil_mode,
              std::optional<int64_t> divisor);
bool avg_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                       const Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
                       at::IntArrayRef padding, bool ceil_mode, std::optional<int64_t> divisor);
bool adaptive_pool(DirectPlan& plan, int64_t spatial, const Tensor& self,
                   at::IntArrayRef output_size, bool with_indices);
// `indices` is NULL for means.
bool adaptive_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                            const Tensor& self, const Tensor* indices);
bool fractional_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                              const Tensor& self, at::IntArrayRef output_size,
                              const Tensor& indices);

}  // namespace dl::core::plans
