#include "aten/fused/step.h"

#include <ATen/ops/add.h>
#include <ATen/ops/neg.h>

#include "aten/fallback/overlap.h"

namespace dl::core {
namespace {

// Returns true if two tensors of parameter `i` share memory.
bool share_memory(size_t i, at::TensorList params, std::initializer_list<at::TensorList> others) {
  if (overlap::repeats(params[i])) return true;
  for (auto one = others.begin(); one != others.end(); ++one) {
    if (one->size() <= i || one->data() == params.data()) continue;
    if (overlap::repeats((*one)[i]) || overlap::meets(params[i], (*one)[i])) return true;
    for (auto other = others.begin(); other != one; ++other) {
      if (overlap::meets((*one)[i], (*other)[i])) return true;
    }
  }
  return false;
}

}  // namespace

bool lists_match(at::TensorList params, std::initializer_list<at::TensorList> others) {
  for (const at::TensorList& other : others) {
    if (other.size() != params.size()) return false;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const at::Tensor& param = params[i];
    if (!param.is_floating_point() || param.device() != params[0].device()) return false;
    if (share_memory(i, params, others)) return false;
    for (const at::TensorList& other : others) {
      if (other[i].device() != param.device() || other[i].dtype() != param.dtype() ||
          other[i].sizes() != param.sizes() || other[i].layout() != at::kStrided) {
        return false;
      }
    }
  }
  return !params.empty();
}

bool steps_match(at::TensorList params, std::initializer_list<at::TensorList> others,
                 at::TensorList steps) {
  if (steps.size() != params.size()) return false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const at::Tensor& step = steps[i];
    if (step.numel() != 1 || !step.is_floating_point() || step.device() != params[0].device() ||
        overlap::meets(step, params[i])) {
      return false;
    }
    for (const at::TensorList& other : others) {
      if (overlap::meets(step, other[i])) return false;
    }
  }
  return true;
}

bool is_skipped(const OptionalTensor& found_inf) {
  return found_inf && found_inf->defined() && found_inf->item<float>() == 1.0f;
}

void unscale(at::TensorList grads, const OptionalTensor& grad_scale) {
  if (!grad_scale || !grad_scale->defined()) return;
  const at::Tensor scale = grad_scale->reshape({});
  for (const at::Tensor& grad : grads) grad.div_(scale);
}

std::vector<at::Tensor> effective_gradients(at::TensorList params, at::TensorList grads,
                                            bool maximize, double weight_decay) {
  std::vector<at::Tensor> result;
  result.reserve(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    at::Tensor grad = maximize ? at::neg(grads[i]) : grads[i];
    if (weight_decay != 0) {
      grad = maximize ? grad.add_(params[i], weight_decay) : at::add(grad, params[i], weight_decay);
    }
    result.push_back(std::move(grad));
  }
  return result;
}

}  // namespace dl::core
