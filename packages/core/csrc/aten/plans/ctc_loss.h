// Plans of the CTC loss.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// Lengths as tensors on the device.
struct CtcValues {
  at::Tensor input_lengths;
  at::Tensor target_lengths;
};

namespace plans {

bool ctc_loss(OutputPlan& plan, CtcValues& values, const Tensor& log_probs, const Tensor& targets,
              at::IntArrayRef input_lengths, at::IntArrayRef target_lengths, int64_t blank);
bool ctc_loss_backward(OutputPlan& plan, CtcValues& values, const Tensor& grad,
                       const Tensor& log_probs, const Tensor& targets,
                       at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
                       const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank);

}  // namespace plans
}  // namespace dl::core
