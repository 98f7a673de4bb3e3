// The tensors among the boxed arguments of a call, and their stand-ins on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "aten/fallback/host_arguments.h"
#include "aten/fallback/operator_info.h"

namespace dl::core {

inline bool holds_dl(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDeviceType;
}

// Calls `f(tensor, argument index)` for every tensor among the arguments, lists included.
template <typename F>
void visit_tensors(const torch::jit::Stack& stack, size_t begin, size_t count, F&& f) {
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue& value = stack[begin + i];
    if (value.isTensor()) {
      f(value.toTensor(), i);
    } else if (value.isTensorList()) {
      const auto list = value.toTensorList();
      for (size_t k = 0; k < list.size(); ++k) f(list.get(k), i);
    } else if (value.isOptionalTensorList()) {
      const auto list = value.toOptionalTensorList();
      for (size_t k = 0; k < list.size(); ++k) {
        if (const std::optional<at::Tensor> tensor = list.get(k)) f(*tensor, i);
      }
    }
  }
}

// Puts the CPU's view in place of every dl tensor, and the CPU in place of a dl device.
void replace_arguments(HostArguments& host, const OperatorInfo& info, torch::jit::Stack& stack,
                       size_t begin, size_t count);
// Puts what the caller shall see in place of the last `returns` values.
void replace_outputs(HostArguments& host, torch::jit::Stack& stack, size_t returns);

}  // namespace dl::core
