// CTC loss with lengths given as tensors.
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/ctc_loss.h>
#include <ATen/ops/ctc_loss_compositeimplicitautograd_dispatch.h>

#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

Tensor on_host(const Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
              "lengths must be integral");
  return lengths.to(at::kCPU, at::kLong).contiguous();
}

at::IntArrayRef numbers(const Tensor& lengths) {
  return {lengths.const_data_ptr<int64_t>(), static_cast<size_t>(lengths.numel())};
}

std::tuple<Tensor, Tensor> ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                    const Tensor& input_lengths, const Tensor& target_lengths,
                                    int64_t blank, bool zero_infinity) {
  const Tensor inputs = on_host(input_lengths), labels = on_host(target_lengths);
  return at::_ctc_loss(log_probs, targets, numbers(inputs), numbers(labels), blank, zero_infinity);
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                         const Tensor& input_lengths, const Tensor& target_lengths,
                         const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                         bool zero_infinity) {
  const Tensor inputs = on_host(input_lengths), labels = on_host(target_lengths);
  return at::_ctc_loss_backward(grad, log_probs, targets, numbers(inputs), numbers(labels),
                                neg_log_likelihood, log_alpha, blank, zero_infinity);
}

// Returns true if the lengths can be read on the host now. torch's own implementation reads them
// there unless a dispatch mode is active: then it computes with them where they are, and would mix
// lengths on the host with losses on the device.
bool can_be_read(const Tensor& lengths) {
  return lengths.device().is_cpu() && (lengths.key_set() & at::kTensorSubclassLike).empty();
}

Tensor mean_or_sum(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                   const Tensor& target_lengths, int64_t blank, int64_t reduction,
                   bool zero_infinity) {
  if (!can_be_read(input_lengths) || !can_be_read(target_lengths)) {
    return at::compositeimplicitautograd::ctc_loss(log_probs, targets, input_lengths,
                                                   target_lengths, blank, reduction, zero_infinity);
  }
  const Tensor inputs = on_host(input_lengths), labels = on_host(target_lengths);
  return at::ctc_loss(log_probs, targets, numbers(inputs), numbers(labels), blank, reduction,
                      zero_infinity);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_ctc_loss.Tensor", ctc_loss);
  DL_COMPOSED("_ctc_loss_backward.Tensor", ctc_loss_backward);
}

// Autograd records the operators that this function calls.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  library.impl("ctc_loss.Tensor", TORCH_FN(mean_or_sum));
}

}  // namespace dl::core::composed
