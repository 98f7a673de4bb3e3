#include "aten/plans/ctc_loss.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "aten/plans/checks.h"
#include "memory/new_tensor.h"

namespace dl::core::plans {
namespace {

Tensor on_device(at::IntArrayRef lengths, const Tensor& beside) {
  const auto count = static_cast<int64_t>(lengths.size());
  Tensor result = empty_on(beside.get_device(), {count}, at::kLong);
  // The copy completes before the call returns.
  result.copy_(at::from_blob(const_cast<int64_t*>(lengths.data()), {count}, at::kLong));
  return result;
}

// Checks that every sample has labels and a sequence of the length given for it.
bool fits(const Tensor& log_probs, const Tensor& targets, at::IntArrayRef input_lengths,
          at::IntArrayRef target_lengths, int64_t blank) {
  if (!alike(log_probs) || !on_same_device(log_probs, targets) || !is_index(targets) ||
      log_probs.dim() != 3 || targets.dim() < 1 || targets.dim() > 2)
    return false;
  if (log_probs.scalar_type() != at::kFloat && log_probs.scalar_type() != at::kDouble) return false;
  const int64_t steps = log_probs.size(0), samples = log_probs.size(1), classes = log_probs.size(2);
  const auto is_up_to = [](at::IntArrayRef lengths, int64_t bound) {
    return std::all_of(lengths.begin(), lengths.end(),
                       [=](int64_t length) { return length >= 0 && length <= bound; });
  };
  if (samples == 0 || blank < 0 || blank >= classes ||
      static_cast<int64_t>(input_lengths.size()) != samples ||
      static_cast<int64_t>(target_lengths.size()) != samples || !is_up_to(input_lengths, steps))
    return false;
  if (targets.dim() == 2)
    return targets.size(0) == samples && is_up_to(target_lengths, targets.size(1));
  int64_t total = 0;
  for (const int64_t length : target_lengths) {
    if (length < 0 || length > targets.size(0)) return false;
    total += length;
  }
  return total == targets.size(0);
}

}  // namespace

bool ctc_loss(OutputPlan& plan, CtcValues& values, const Tensor& log_probs, const Tensor& targets,
              at::IntArrayRef input_lengths, at::IntArrayRef target_lengths, int64_t blank) {
  if (!fits(log_probs, targets, input_lengths, target_lengths, blank)) return false;
  const int64_t samples = log_probs.size(1),
                longest = *std::max_element(target_lengths.begin(), target_lengths.end());
  values = {on_device(input_lengths, log_probs), on_device(target_lengths, log_probs)};
  plan.start(log_probs);
  plan.output({samples}, log_probs.scalar_type());
  plan.output({samples, log_probs.size(0), 2 * longest + 1}, log_probs.scalar_type());
  plan.output({samples}, log_probs.scalar_type());
  return true;
}

bool ctc_loss_backward(OutputPlan& plan, CtcValues& values, const Tensor& grad,
                       const Tensor& log_probs, const Tensor& targets,
                       at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
                       const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank) {
  if (!alike(log_probs, grad, neg_log_likelihood, log_alpha) ||
      !fits(log_probs, targets, input_lengths, target_lengths, blank))
    return false;
  values = {on_device(input_lengths, log_probs), on_device(target_lengths, log_probs)};
  plan.start(log_probs);
  plan.output(log_probs.sizes(), log_probs.scalar_type());
  return true;
}

}  // namespace dl::core::plans
