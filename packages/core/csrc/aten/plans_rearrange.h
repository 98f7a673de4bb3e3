// Plans of operators that move elements or add windows.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

bool rotation(DirectPlan& plan, const Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims);
bool stacked(DirectPlan& plan, at::TensorList tensors, int64_t dim);
bool windows_added(DirectPlan& plan, const Tensor& grad, at::IntArrayRef input_sizes, int64_t dim,
                   int64_t size, int64_t step);
bool image_columns(DirectPlan& plan, const Tensor& self, at::IntArrayRef kernel,
                   at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride);
bool column_image(DirectPlan& plan, const Tensor& self, at::IntArrayRef output_size,
                  at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
                  at::IntArrayRef stride);

}  // namespace dl::core::plans
