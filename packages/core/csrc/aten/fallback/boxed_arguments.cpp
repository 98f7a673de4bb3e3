#include "aten/fallback/boxed_arguments.h"

#include "runtime/device.h"

namespace dl::core {
namespace {

c10::List<at::Tensor> to_host_list(HostArguments& host, const c10::List<at::Tensor>& list,
                                   bool written) {
  c10::List<at::Tensor> result;
  result.reserve(list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    const at::Tensor tensor = list.get(k);
    result.push_back(holds_dl(tensor) ? host.to_host(tensor, written) : tensor);
  }
  return result;
}

c10::List<std::optional<at::Tensor>> to_host_list(HostArguments& host,
                                                  const c10::List<std::optional<at::Tensor>>& list,
                                                  bool written) {
  c10::List<std::optional<at::Tensor>> result;
  result.reserve(list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    std::optional<at::Tensor> tensor = list.get(k);
    if (tensor && holds_dl(*tensor)) tensor = host.to_host(*tensor, written);
    result.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace

void replace_arguments(HostArguments& host, const OperatorInfo& info, torch::jit::Stack& stack,
                       size_t begin, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& value = stack[begin + i];
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (holds_dl(tensor)) {
        value = host.to_host(tensor, info.writes[i]);
      } else if (tensor.defined()) {
        host.note_cpu_input(tensor);
      }
    } else if (value.isTensorList()) {
      value = to_host_list(host, value.toTensorList(), info.writes[i]);
    } else if (value.isOptionalTensorList()) {
      value = to_host_list(host, value.toOptionalTensorList(), info.writes[i]);
    } else if (value.isDevice() && value.toDevice().type() == kDeviceType) {
      value = c10::Device(c10::kCPU);
    }
  }
}

void replace_outputs(HostArguments& host, torch::jit::Stack& stack, size_t returns) {
  for (size_t i = stack.size() - returns; i < stack.size(); ++i) {
    c10::IValue& value = stack[i];
    if (value.isTensor()) {
      value = host.to_device(value.toTensor());
    } else if (value.isTensorList()) {
      const auto list = value.toTensorList();
      c10::List<at::Tensor> result;
      result.reserve(list.size());
      for (size_t k = 0; k < list.size(); ++k) result.push_back(host.to_device(list.get(k)));
      value = std::move(result);
    }
  }
}

}  // namespace dl::core
