// Plans of resizing, and a composed implementation for calls that the contract does not cover:
// an explicit scale factor is given, or torch reads other cells than the contract's operators.
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
// Both return an undefined tensor if torch raises an error.
Tensor resample(Resampling kind, const Tensor& self, at::IntArrayRef output_size,
                bool align_corners, Scales scales);
Tensor resample_backward(Resampling kind, const Tensor& grad_output, at::IntArrayRef output_size,
                         at::IntArrayRef input_size, bool align_corners, Scales scales);

}  // namespace plans
}  // namespace dl::core
