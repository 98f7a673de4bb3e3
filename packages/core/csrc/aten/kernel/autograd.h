// Kernels that replace torch's derivatives of an operator, registered with AutogradPrivateUse1.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>

#include <type_traits>
#include <utility>

#include "aten/fallback/fallback_typed.h"

namespace dl::core {

// Returns true if `tensor` has a tangent of forward-mode differentiation.
inline bool has_tangent(const at::Tensor& tensor) {
  return tensor.defined() && tensor._fw_grad(/*level=*/0).defined();
}

// Returns true if autograd records operators on `tensor`, in reverse or forward mode.
inline bool is_recorded(const at::Tensor& tensor) {
  return (at::GradMode::is_enabled() && tensor.defined() && tensor.requires_grad()) ||
         has_tangent(tensor);
}

// Calls torch's own autograd kernel of an operator, which our registration for this device hides.
template <Text name, typename Return = at::Tensor, typename... Args>
Return call_torch_autograd(c10::DispatchKeySet keys, const Args&... args) {
  struct Kernel {
    c10::OperatorHandle op = find_operator(name.value).handle;
    // The kernel that torch uses for a device without registrations.
    c10::SafeKernelFunction function =
        op.getComputedKernelForDispatchKey(c10::DispatchKey::AutogradPrivateUse3);
  };
  static const Kernel& kernel = *new Kernel;
  torch::jit::Stack stack = c10::impl::boxArgs<std::decay_t<Args>...>(args...);
  kernel.function.callBoxed(kernel.op, keys, &stack);
  return std::move(stack[0]).template to<Return>();
}

}  // namespace dl::core
