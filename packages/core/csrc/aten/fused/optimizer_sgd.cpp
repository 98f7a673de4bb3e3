// Fused SGD. The contract's operator takes one parameter at a time and may overwrite its gradient,
// which torch's fused SGD must not do.
#include "aten/fused/output_handles.h"
#include "aten/fused/step.h"
#include "memory/silent_writes.h"

namespace dl::core {
namespace {

using at::TensorList;
using SgdSignature = void(TensorList, TensorList, TensorList, double, double, double, double, bool,
                          bool, bool, const OptionalTensor&, const OptionalTensor&);

Site sgd_site{"_fused_sgd_", {"_fused_sgd_", "_fused_sgd_.tensor_lr"}, {Op::diopiSgd}};

struct SgdRule {
  double weight_decay, momentum, lr, dampening;
  bool nesterov, maximize, is_first_step;
};

bool is_covered(TensorList params, TensorList grads, TensorList buffers, const SgdRule& rule) {
  const int index = device_of_list(params);
  if (index < 0 || sgd_site.disabled.load(std::memory_order_relaxed)) return false;
  if (DL_CONTRACT_FUNCTION(device_unchecked(index), diopiSgd) == nullptr) return false;
  return rule.momentum == 0 ? lists_match(params, {grads}) : lists_match(params, {grads, buffers});
}

bool run_native(const at::Tensor& param, const at::Tensor& grad, const at::Tensor& buffer,
                const SgdRule& rule) {
  const int index = param.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiSgd);
  // Without weight decay and momentum, the operator does not modify the gradient.
  const bool overwrites = rule.weight_decay != 0 || rule.momentum != 0;
  const at::Tensor along = rule.maximize ? grad.neg() : overwrites ? grad.clone() : grad;
  // At the first step the momentum is the gradient, regardless of dampening; the buffer is
  // uninitialized.
  if (buffer.defined() && rule.is_first_step) buffer.zero_();
  OutputHandle param_handle(param), grad_handle(along);
  OptionalOutputHandle buffer_handle(buffer);
  NativeCall call(sgd_site, index);
  return call.run("diopiSgd", function, param_handle.get(), grad_handle.get(), buffer_handle.get(),
                  rule.lr, rule.momentum, rule.is_first_step ? 0.0 : rule.dampening,
                  rule.weight_decay, rule.nesterov);
}

void fall_back(TensorList params, TensorList grads, TensorList buffers, const SgdRule& rule,
               const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  on_cpu<"_fused_sgd_", SgdSignature>(params, grads, buffers, rule.weight_decay, rule.momentum,
                                      rule.lr, rule.dampening, rule.nesterov, rule.maximize,
                                      rule.is_first_step, grad_scale, found_inf);
}

void fused_sgd(TensorList params, TensorList grads, TensorList buffers, double weight_decay,
               double momentum, double lr, double dampening, bool nesterov, bool maximize,
               bool is_first_step, const OptionalTensor& grad_scale,
               const OptionalTensor& found_inf) {
  const SgdRule rule{weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step};
  count_silent_write();
  if (!is_covered(params, grads, buffers, rule)) {
    fall_back(params, grads, buffers, rule, grad_scale, found_inf);
    return;
  }
  if (is_skipped(found_inf)) return;
  unscale(grads, grad_scale);
  for (size_t i = 0; i < params.size(); ++i) {
    const at::Tensor buffer = momentum == 0 ? at::Tensor() : buffers[i];
    if (run_native(params[i], grads[i], buffer, rule)) continue;
    const TensorList rest = momentum == 0 ? buffers : buffers.slice(i);
    fall_back(params.slice(i), grads.slice(i), rest, rule, {}, {});
    return;
  }
}

void fused_sgd_tensor_lr(TensorList params, TensorList grads, TensorList buffers,
                         double weight_decay, double momentum, const at::Tensor& lr,
                         double dampening, bool nesterov, bool maximize, bool is_first_step,
                         const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  fused_sgd(params, grads, buffers, weight_decay, momentum, lr.item<double>(), dampening, nesterov,
            maximize, is_first_step, grad_scale, found_inf);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_fused_sgd_", TORCH_FN(fused_sgd));
  library.impl("_fused_sgd_.tensor_lr", TORCH_FN(fused_sgd_tensor_lr));
}

}  // namespace dl::core
