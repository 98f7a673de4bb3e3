#include "aten/fallback/fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <sstream>

#include "aten/fallback/boxed_arguments.h"
#include "aten/fallback/fallback_random.h"
#include "aten/fallback/fallback_typed.h"
#include "aten/fallback/host_arguments.h"
#include "aten/fallback/operator_info.h"
#include "aten/fallback/overlap.h"
#include "aten/fallback/refusal.h"
#include "calls/call.h"
#include "memory/graph_pools.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/recorder.h"

namespace dl::core {
namespace {

std::atomic<FallbackMode> process_mode{FallbackMode::allow};

[[noreturn]] void refuse_mixed(const OperatorInfo& info, const c10::OperatorHandle& op,
                               const at::Tensor& other, size_t argument, int device) {
  TORCH_CHECK(false,
              "Expected all tensors to be on the same device, but found at least two devices, dl:",
              device, " and ", other.device(), "! (when checking argument ",
              op.schema().arguments()[argument].name(), " of aten::", info.name, ")");
}

// CPU scalars may stay on the CPU unless the operator writes to them.
bool may_stay_on_cpu(const OperatorInfo& info, const at::Tensor& tensor, size_t argument) {
  return tensor.is_cpu() && ((tensor.dim() == 0 && !info.writes[argument]) ||
                             static_cast<int>(argument) == info.cpu_indices);
}

// Calls on CPU tensors reach this kernel if they have a dl generator.
void refuse_generator(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                      size_t count) {
  if (info.generator_index < 0 || !stack[begin + info.generator_index].isGenerator()) return;
  visit_tensors(stack, begin, count, [](const at::Tensor& tensor, size_t) {
    TORCH_CHECK(!tensor.defined(), "Expected a '", tensor.device().type(),
                "' device type for generator but found 'dl'");
  });
}

// Returns the device of the call. CPU scalars may take part, and CPU indices where torch allows
// them.
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

// torch's CPU kernels may read and write wherever an integer index points.
void refuse_integers(const OperatorInfo& info, int index, const torch::jit::Stack& stack,
                     size_t begin, size_t count) {
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !tensor.defined() || !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false),
        "[dl] aten::", info.name, " cannot run on the CPU for dl:", index,
        " while its integer arguments are placeholders");
  });
}

}  // namespace

void set_fallback_mode(FallbackMode mode) { process_mode.store(mode, std::memory_order_relaxed); }

FallbackMode fallback_mode() { return process_mode.load(std::memory_order_relaxed); }

void apply_fallback_mode(OperatorInfo& info, const Explanation& reason, int index,
                         const torch::jit::Stack& stack, size_t begin, size_t count) {
  if (records_placeholders()) refuse_integers(info, index, stack, begin, count);
  const FallbackMode mode = fallback_mode();
  if (C10_LIKELY(mode == FallbackMode::allow)) return;
  const Device& owner = device(index);
  if (mode == FallbackMode::error) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, "[dl] aten::", info.name, " does not run natively on dl:", index, " (vendor ",
        owner.vendor->name(), ") for ", describe_arguments(stack, begin, count), ": ",
        reason.text(), ". CPU fallback is forbidden; set DL_FALLBACK=allow to run it on the CPU");
  }
  if (!info.warned.exchange(true)) {
    TORCH_WARN("[dl] aten::", info.name, " falls back to the CPU on dl:", index, " (vendor ",
               owner.vendor->name(), "): ", reason.text(), "; first seen with ",
               describe_arguments(stack, begin, count));
  }
}

void check_not_captured(const OperatorInfo& info, int device) {
  if (C10_LIKELY(!is_capturing(device))) return;
  const std::string what = "aten::" + info.name + ", which runs on the CPU,";
  check_not_capturing(device, what.c_str());
}

std::vector<FallbackCount> fallback_counts() {
  std::vector<FallbackCount> result;
  for (const OperatorInfo* info : known_operators()) {
    const uint64_t calls = info->calls();
    if (calls > 0) result.push_back({info->name, calls, info->nanoseconds()});
  }
  return result;
}

std::vector<ReasonCount> fallback_reasons() {
  std::vector<ReasonCount> result;
  for (const OperatorInfo* info : known_operators()) {
    for (const FallbackReason* each = info->reasons.load(); each != nullptr; each = each->next)
      result.push_back({info->name, each});
  }
  return result;
}

void reset_fallback_counts() {
  for (OperatorInfo* info : known_operators()) {
    for (FallbackReason* each = info->reasons.load(); each != nullptr; each = each->next)
      each->reset();
  }
}

void refuse_unsupported(const std::string& overload, int index, const std::string& arguments,
                        const c10::NotImplementedError& error) {
  const std::string said = error.what_without_backtrace();
  // An error from an operator called by this one is already complete.
  if (said.rfind("[dl]", 0) == 0) throw error;
  const c10::NotImplementedError refused(
      {__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
      c10::str("[dl] aten::", overload, " cannot run on dl:", index, " (vendor ",
               device(index).vendor->name(), ") for ", arguments,
               ": neither the vendor nor torch's CPU, which computes what the vendor lacks, has a "
               "kernel for it; convert to a dtype that has one, such as x.float(). Torch's CPU "
               "says: ",
               said));
  Refusal::note(refused);
  throw refused;
}

void refuse_unsupported(const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                        const c10::NotImplementedError& error) {
  int index = current_device();
  visit_tensors(arguments, 0, arguments.size(), [&](const at::Tensor& tensor, size_t) {
    if (holds_dl(tensor)) index = tensor.get_device();
  });
  refuse_unsupported(operator_info(op).name, index,
                     describe_arguments(arguments, 0, arguments.size()), error);
}

FallbackOperator find_operator(const char* overload) {
  const std::string text = std::string("aten::") + overload;
  const size_t dot = text.find('.');
  return find_operator(text.substr(0, dot).c_str(),
                       dot == std::string::npos ? "" : text.c_str() + dot + 1);
}

FallbackOperator find_own_operator(const char* overload) {
  const FallbackOperator op = find_operator(overload);
  op.info.has_own_kernel.store(true, std::memory_order_relaxed);
  return op;
}

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_not_forked();
  OperatorInfo& info = operator_info(op);
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  // Operators of other namespaces define themselves what shared memory means.
  if (info.mutates && info.is_torchs && overlap::are_entangled(info, *stack, begin, count) &&
      !overlap::is_permitted(op)) {
    overlap::disentangle(op, c10::DispatchKeySet(), stack);
    return;
  }
  const int index = common_device(info, op, *stack, begin, count);
  const Explanation reason = explain_fallback(info, index);
  apply_fallback_mode(info, reason, index, *stack, begin, count);
  check_not_captured(info, index);
  typed::Count counted(info, reason);

  // CPU kernels call other operators, which must neither record gradients nor be autocast.
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const DeviceScope scope(index);
  const bool staged = !device(index).host_accessible;
  HostArguments host(index, staged ? Twins::copy : Twins::alias, info.whole_storage);
  if (staged) {
    visit_tensors(*stack, begin, count, [&](const at::Tensor& tensor, size_t) {
      if (holds_dl(tensor)) host.survey(tensor);
    });
  }
  host.begin();
  replace_arguments(host, info, *stack, begin, count);
  {
    const FallbackRandom random(info, *stack, begin, index);
    try {
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    } catch (const c10::NotImplementedError& error) {
      refuse_unsupported(info.name, index, host.describe(), error);
    } catch (const c10::Error& error) {
      Refusal::note(error);
      throw;
    }
  }
  counted.ran();
  host.finish();
  replace_outputs(host, *stack, op.schema().returns().size());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

}  // namespace dl::core
