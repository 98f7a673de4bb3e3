// Plans of im2col, col2im and the gradient of unfold.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// The dimension of the windows, and the gradient expanded to the shape of the input.
struct UnfoldValues {
  int64_t dim = 0;
  at::Tensor grad;
};

namespace plans {

bool unfold_backward(OutputPlan& plan, UnfoldValues& values, const Tensor& grad,
                     at::IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step);
bool image_columns(OutputPlan& plan, const Tensor& self, at::IntArrayRef kernel,
                   at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride);
bool column_image(OutputPlan& plan, const Tensor& self, at::IntArrayRef output_size,
                  at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
                  at::IntArrayRef stride);

}  // namespace plans
}  // namespace dl::core
