#include "aten/fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <sstream>

#include "aten/call.h"
#include "aten/fallback_random.h"
#include "aten/host_arguments.h"
#include "aten/operator_info.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

std::atomic<FallbackMode> process_mode{FallbackMode::allow};

bool holds_dl(const at::Tensor& tensor) {
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

[[noreturn]] void refuse_mixed(const OperatorInfo& info, const c10::OperatorHandle& op,
                               const at::Tensor& other, size_t argument, int device) {
  TORCH_CHECK(false,
              "Expected all tensors to be on the same device, but found at least two devices, dl:",
              device, " and ", other.device(), "! (when checking argument ",
              op.schema().arguments()[argument].name(), " of aten::", info.name, ")");
}

bool may_stay_on_cpu(const OperatorInfo& info, const at::Tensor& tensor, size_t argument) {
  return tensor.is_cpu() && (tensor.dim() == 0 || static_cast<int>(argument) == info.cpu_indices);
}

// A generator of dl brings a call on CPU tensors here.
void refuse_generator(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                      size_t count) {
  if (info.generator_index < 0 || !stack[begin + info.generator_index].isGenerator()) return;
  visit_tensors(stack, begin, count, [](const at::Tensor& tensor, size_t) {
    TORCH_CHECK(!tensor.defined(), "Expected a '", tensor.device().type(),
                "' device type for generator but found 'dl'");
  });
}

// The device of the call. CPU scalars may take part, as may CPU indices where torch allows them.
int common_device(const OperatorInfo& info, const c10::OperatorHandle& op,
                  const torch::jit::Stack& stack, size_t begin, size_t count) {
  int device = -1;
  bool foreign = false;
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t i) {
    if (holds_dl(tensor)) {
      if (device < 0) device = tensor.get_device();
      if (C10_UNLIKELY(tensor.get_device() != device)) refuse_mixed(info, op, tensor, i, device);
    } else if (C10_UNLIKELY(tensor.defined() && !may_stay_on_cpu(info, tensor, i))) {
      foreign = true;
    }
  });
  for (size_t i = 0; i < count && device < 0; ++i) {
    const c10::IValue& value = stack[begin + i];
    if (value.isDevice() && value.toDevice().type() == kDeviceType) {
      device = device_or_current(value.toDevice().index());
    }
  }
  if (device < 0) {
    refuse_generator(info, stack, begin, count);
    return current_device();
  }
  if (C10_UNLIKELY(foreign)) {
    visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t i) {
      if (tensor.defined() && !holds_dl(tensor) && !may_stay_on_cpu(info, tensor, i))
        refuse_mixed(info, op, tensor, i, device);
    });
  }
  return device;
}

std::string describe_arguments(const torch::jit::Stack& stack, size_t begin, size_t count) {
  std::ostringstream text;
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t) {
    if (!tensor.defined()) return;
    if (text.tellp() > 0) text << ", ";
    text << tensor.scalar_type() << tensor.sizes();
  });
  return text.str();
}

void apply_mode(OperatorInfo& info, int index, const torch::jit::Stack& stack, size_t begin,
                size_t count) {
  const FallbackMode mode = fallback_mode();
  if (C10_LIKELY(mode == FallbackMode::allow)) return;
  const Device& owner = device(index);
  if (mode == FallbackMode::error) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, "[dl] aten::", info.name, " does not run natively on dl:", index, " (vendor ",
        owner.vendor->name(), ") for ", describe_arguments(stack, begin, count),
        ", and CPU fallback is forbidden. Set DL_FALLBACK=allow to run it on the CPU");
  }
  if (!info.warned.exchange(true)) {
    TORCH_WARN("[dl] aten::", info.name, " falls back to the CPU on dl:", index, " (vendor ",
               owner.vendor->name(), "); first seen with ",
               describe_arguments(stack, begin, count));
  }
}

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

}  // namespace

void set_fallback_mode(FallbackMode mode) { process_mode.store(mode, std::memory_order_relaxed); }

FallbackMode fallback_mode() { return process_mode.load(std::memory_order_relaxed); }

std::vector<FallbackCount> fallback_counts() {
  std::vector<FallbackCount> result;
  for (const OperatorInfo* info : known_operators()) {
    if (info->calls.load() > 0)
      result.push_back({info->name, info->calls.load(), info->nanoseconds.load()});
  }
  return result;
}

void reset_fallback_counts() {
  for (OperatorInfo* info : known_operators()) {
    info->calls = 0;
    info->nanoseconds = 0;
  }
}

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_not_forked();
  OperatorInfo& info = operator_info(op);
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  const int index = common_device(info, op, *stack, begin, count);
  apply_mode(info, index, *stack, begin, count);
  info.calls.fetch_add(1, std::memory_order_relaxed);
  const bool timed = profile_operators.load(std::memory_order_relaxed);
  const uint64_t start = timed ? now_ns() : 0;

  // CPU kernels call other operators; those must neither record gradients nor be autocast.
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const DeviceScope scope(index);
  const bool staged = !device(index).host_accessible;
  HostArguments host(index, staged, info.whole_storage);
  if (staged) {
    visit_tensors(*stack, begin, count, [&](const at::Tensor& tensor, size_t) {
      if (holds_dl(tensor)) host.survey(tensor);
    });
  }
  host.begin();
  replace_arguments(host, info, *stack, begin, count);
  {
    const FallbackRandom random(info, *stack, begin, index);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
  host.finish();
  replace_outputs(host, *stack, op.schema().returns().size());
  if (timed) info.nanoseconds.fetch_add(now_ns() - start, std::memory_order_relaxed);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

}  // namespace dl::core
