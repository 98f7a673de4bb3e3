// Plans of resizing, and a composed implementation for calls that the contract does not cover:
// those with an explicit scale factor, and those that read other cells than the contract does.
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
// Undefined if torch raises an error.
Tensor resample(Resampling kind, const Tensor& self, at::IntArrayRef output_size,
                bool align_corners, Scales scales);
Tensor resample_backward(Resampling kind, const Tensor& grad_output, at::IntArrayRef output_size,
                         at::IntArrayRef input_size, bool align_corners, Scales scales);

}  // namespace plans
}  // namespace dl::core
