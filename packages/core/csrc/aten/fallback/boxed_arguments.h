// Tensors among the boxed arguments of a call, and their CPU counterparts.
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

// Calls `f(tensor, argument index)` for every tensor among the arguments, including those in lists.
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

// Replaces every dl tensor by its CPU counterpart, and a dl device argument by the CPU.
void replace_arguments(HostArguments& host, const OperatorInfo& info, torch::jit::Stack& stack,
                       size_t begin, size_t count);
// Replaces the last `returns` values by the outputs that the caller receives.
void replace_outputs(HostArguments& host, torch::jit::Stack& stack, size_t returns);

}  // namespace dl::core
