// Plans of resizing, and what builds it from other operators where the contract's does not cover a
// call: a scale of its own, or cells chosen otherwise.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/resample.h"

namespace dl::core {

namespace plans {

using Scales = std::initializer_list<std::optional<double>>;

bool upsample(OutputPlan& plan, Resampling kind, const Tensor& self, at::IntArrayRef output_size,
              bool align_corners, Scales scales);
bool upsample_backward(OutputPlan& plan, Resampling kind, const Tensor& grad_output,
                       at::IntArrayRef output_size, at::IntArrayRef input_size, bool align_corners,
                       Scales scales);
// Undefined where torch would object.
Tensor resample(Resampling kind, const Tensor& self, at::IntArrayRef output_size,
                bool align_corners, Scales scales);
Tensor resample_backward(Resampling kind, const Tensor& grad_output, at::IntArrayRef output_size,
                         at::IntArrayRef input_size, bool align_corners, Scales scales);

}  // namespace plans
}  // namespace dl::core
