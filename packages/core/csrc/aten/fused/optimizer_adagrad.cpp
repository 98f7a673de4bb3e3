// Adagrad, which the contract does not have. Source: Duchi, Hazan and Singer, Adaptive Subgradient
// Methods (JMLR 2011).
#include <ATen/ops/sqrt.h>

#include "aten/fallback/fallback_typed.h"
#include "aten/fused/step.h"
#include "aten/kernel/composed.h"
#include "memory/silent_writes.h"

namespace dl::core {
namespace {

using at::TensorList;
using AdagradSignature = void(TensorList, TensorList, TensorList, TensorList, double, double,
                              double, double, bool, const OptionalTensor&, const OptionalTensor&);

void fused_adagrad(TensorList params, TensorList grads, TensorList state_sums,
                   TensorList state_steps, double lr, double lr_decay, double weight_decay,
                   double eps, bool maximize, const OptionalTensor& grad_scale,
                   const OptionalTensor& found_inf) {
  count_silent_write();
  if (params.empty() || !is_on_dl(params[0]) || !lists_match(params, {grads, state_sums}) ||
      !steps_match(params, {grads, state_sums}, state_steps)) {
    on_cpu<"_fused_adagrad_", AdagradSignature>(params, grads, state_sums, state_steps, lr,
                                                lr_decay, weight_decay, eps, maximize, grad_scale,
                                                found_inf);
    return;
  }
  if (is_skipped(found_inf)) return;
  unscale(grads, grad_scale);
  const std::vector<at::Tensor> along = effective_gradients(params, grads, maximize, weight_decay);
  for (size_t i = 0; i < params.size(); ++i) {
    // Without learning rate decay, the step count need not be read from the device.
    const double rate =
        lr_decay == 0 ? lr : lr / (1 + (state_steps[i].item<double>() - 1) * lr_decay);
    state_sums[i].addcmul_(along[i], along[i]);
    params[i].addcdiv_(along[i], at::sqrt(state_sums[i]).add_(eps), -rate);
  }
}

void fused_adagrad_tensor_lr(TensorList params, TensorList grads, TensorList state_sums,
                             TensorList state_steps, const at::Tensor& lr, double lr_decay,
                             double weight_decay, double eps, bool maximize,
                             const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  fused_adagrad(params, grads, state_sums, state_steps, lr.item<double>(), lr_decay, weight_decay,
                eps, maximize, grad_scale, found_inf);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_fused_adagrad_", fused_adagrad);
  DL_COMPOSED("_fused_adagrad_.tensor_lr", fused_adagrad_tensor_lr);
}

}  // namespace dl::core
