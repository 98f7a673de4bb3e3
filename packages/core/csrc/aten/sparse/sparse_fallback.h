// CPU fallback of sparse operators: counted and forbidden by the fallback mode like every fallback.
#pragma once

#include <ATen/core/boxing/BoxedKernel.h>
#include <ATen/core/boxing/impl/boxing.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>

#include "aten/fallback/fallback_typed.h"

namespace dl::core {

// Calls the CPU kernel with copies of the arguments, and copies written tensors back. Outputs never
// share memory with arguments, because views of sparse tensors have kernels. Throws where neither
// dl nor the CPU has a kernel, and where operands are on different devices.
void sparse_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

template <typename Signature>
struct SparseFallback;
template <typename Return, typename... Args>
struct SparseFallback<Return(Args...)> {
  static Return call(const c10::OperatorHandle& op, Args... args) {
    return c10::impl::BoxedKernelWrapper<Return(Args...)>::call(
        c10::BoxedKernel::makeFromFunction<&sparse_fallback>(), op, c10::DispatchKeySet(),
        std::forward<Args>(args)...);
  }
};

// Runs an overload, "add.out", on the CPU; `Signature` is the type of the native kernel.
template <Text overload, typename Signature, typename... Args>
decltype(auto) sparse_on_cpu(Args&&... args) {
  static const FallbackOperator op = find_operator(overload.value);
  return SparseFallback<Signature>::call(op.handle, std::forward<Args>(args)...);
}

}  // namespace dl::core
