// Fused Adam and AdamW. Both use the contract's fused AdamW: the only difference is that Adam adds
// the weight decay to the gradients first.
#include <ATen/OpMathType.h>
#include <ATen/ops/_foreach_copy.h>

#include <algorithm>
#include <vector>

#include "aten/fused/output_handles.h"
#include "aten/fused/step.h"
#include "memory/silent_writes.h"

namespace dl::core {
namespace {

using at::TensorList;
using AdamSignature = void(TensorList, TensorList, TensorList, TensorList, TensorList, TensorList,
                           double, double, double, double, double, bool, bool,
                           const OptionalTensor&, const OptionalTensor&);

Site adam_site{"_fused_adam_", {"_fused_adam_", "_fused_adam_.tensor_lr"}, {Op::diopiFusedAdamW}};
Site adamw_site{
    "_fused_adamw_", {"_fused_adamw_", "_fused_adamw_.tensor_lr"}, {Op::diopiFusedAdamW}};

struct AdamStep {
  TensorList params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps;
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize;
};

bool is_covered(const Site& site, const AdamStep& step) {
  const int index = device_of_list(step.params);
  if (index < 0 || site.disabled.load(std::memory_order_relaxed)) return false;
  if (DL_CONTRACT_FUNCTION(device_unchecked(index), diopiFusedAdamW) == nullptr) return false;
  const auto match = [&step](std::initializer_list<TensorList> others) {
    return lists_match(step.params, others) && steps_match(step.params, others, step.state_steps);
  };
  return step.amsgrad ? match({step.grads, step.exp_avgs, step.exp_avg_sqs, step.max_exp_avg_sqs})
                      : match({step.grads, step.exp_avgs, step.exp_avg_sqs});
}

bool run_native(Site& site, const AdamStep& step) {
  const int index = step.params[0].get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiFusedAdamW);
  OutputHandleList params(step.params), exp_avgs(step.exp_avgs), exp_avg_sqs(step.exp_avg_sqs),
      largest(step.amsgrad ? step.max_exp_avg_sqs : TensorList());
  const HandleList grads(step.grads), state_steps(step.state_steps);
  NativeCall call(site, index);
  return call.run("diopiFusedAdamW", function, params.data(), grads.data(), exp_avgs.data(),
                  exp_avg_sqs.data(), largest.data(), state_steps.data(), grads.size(), step.lr,
                  step.beta1, step.beta2, step.eps, step.weight_decay, step.amsgrad, step.maximize);
}

template <Text name>
void fall_back(const AdamStep& s, const OptionalTensor& grad_scale,
               const OptionalTensor& found_inf) {
  on_cpu<name, AdamSignature>(s.params, s.grads, s.exp_avgs, s.exp_avg_sqs, s.max_exp_avg_sqs,
                              s.state_steps, s.lr, s.beta1, s.beta2, s.weight_decay, s.eps,
                              s.amsgrad, s.maximize, grad_scale, found_inf);
}

std::vector<at::Tensor> widen(TensorList tensors) {
  std::vector<at::Tensor> wide;
  wide.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    wide.push_back(tensor.to(at::toOpMathType(tensor.scalar_type())));
  }
  return wide;
}

bool has_half_types(TensorList tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return tensor.scalar_type() != at::toOpMathType(tensor.scalar_type());
  });
}

// Weight decay must be added to the gradients without intermediate rounding, so for half precision
// the whole step runs on float copies.
bool run_with_decay(Site& site, AdamStep step) {
  const AdamStep given = step;
  std::vector<at::Tensor> params, grads, exp_avgs, exp_avg_sqs, largest;
  const bool wide = has_half_types(step.params);
  if (wide) {
    step.params = params = widen(given.params);
    step.grads = grads = widen(given.grads);
    step.exp_avgs = exp_avgs = widen(given.exp_avgs);
    step.exp_avg_sqs = exp_avg_sqs = widen(given.exp_avg_sqs);
    if (step.amsgrad) step.max_exp_avg_sqs = largest = widen(given.max_exp_avg_sqs);
  }
  const std::vector<at::Tensor> decayed =
      effective_gradients(step.params, step.grads, step.maximize, step.weight_decay);
  step.grads = decayed;
  step.weight_decay = 0;
  step.maximize = false;
  if (!run_native(site, step)) return false;
  if (wide) {
    at::_foreach_copy_(given.params, params);
    at::_foreach_copy_(given.exp_avgs, exp_avgs);
    at::_foreach_copy_(given.exp_avg_sqs, exp_avg_sqs);
    if (step.amsgrad) at::_foreach_copy_(given.max_exp_avg_sqs, largest);
  }
  return true;
}

template <Text name>
void run_step(Site& site, bool decoupled, const AdamStep& step, const OptionalTensor& grad_scale,
              const OptionalTensor& found_inf) {
  count_silent_write();
  if (!is_covered(site, step)) {
    fall_back<name>(step, grad_scale, found_inf);
    return;
  }
  if (is_skipped(found_inf)) return;
  unscale(step.grads, grad_scale);
  const bool joins = !decoupled && step.weight_decay != 0;
  if (!(joins ? run_with_decay(site, step) : run_native(site, step))) {
    fall_back<name>(step, {}, {});
  }
}

void fused_adam(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  run_step<"_fused_adam_">(adam_site, false,
                           {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr,
                            beta1, beta2, weight_decay, eps, amsgrad, maximize},
                           grad_scale, found_inf);
}

void fused_adamw(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                 TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                 double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                 const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  run_step<"_fused_adamw_">(adamw_site, true,
                            {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr,
                             beta1, beta2, weight_decay, eps, amsgrad, maximize},
                            grad_scale, found_inf);
}

void fused_adam_tensor_lr(TensorList params, TensorList grads, TensorList exp_avgs,
                          TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                          TensorList state_steps, const at::Tensor& lr, double beta1, double beta2,
                          double weight_decay, double eps, bool amsgrad, bool maximize,
                          const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  fused_adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr.item<double>(),
             beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}

void fused_adamw_tensor_lr(TensorList params, TensorList grads, TensorList exp_avgs,
                           TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                           TensorList state_steps, const at::Tensor& lr, double beta1, double beta2,
                           double weight_decay, double eps, bool amsgrad, bool maximize,
                           const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  fused_adamw(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr.item<double>(),
              beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_fused_adam_", TORCH_FN(fused_adam));
  library.impl("_fused_adam_.tensor_lr", TORCH_FN(fused_adam_tensor_lr));
  library.impl("_fused_adamw_", TORCH_FN(fused_adamw));
  library.impl("_fused_adamw_.tensor_lr", TORCH_FN(fused_adamw_tensor_lr));
}

}  // namespace dl::core
