#include "aten/sparse/sparse_fallback.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

#include <vector>

#include "aten/fallback/boxed_arguments.h"
#include "aten/fallback/operator_info.h"
#include "aten/fallback/refusal.h"
#include "aten/kernel/layer_fallback.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

// Each dl tensor among the arguments with its CPU copy.
class HostCopies {
 public:
  at::Tensor of(const at::Tensor& tensor, bool written) {
    if (!holds_dl(tensor)) return tensor;
    for (Copy& copy : copies_) {
      if (!copy.original.is_same(tensor)) continue;
      copy.written |= written;
      return copy.host;
    }
    copies_.push_back({tensor, tensor.to(at::kCPU), written});
    // Some kernels save tensors for the backward pass only if a gradient is required.
    if (tensor.requires_grad()) copies_.back().host.set_requires_grad(true);
    return copies_.back().host;
  }

  void carry_back() const {
    for (const Copy& copy : copies_) {
      if (!copy.written) continue;
      if (copy.original.layout() == at::kStrided) {
        if (copy.original.sizes() != copy.host.sizes()) copy.original.resize_(copy.host.sizes());
      } else if (copy.original.layout() != at::kSparse) {
        copy.original.resize_as_sparse_(copy.host);
      }
      copy.original.copy_(copy.host);
    }
  }

  // Converts a result for the caller.
  at::Tensor on_device(const at::Tensor& result, c10::Device device) const {
    if (!result.defined()) return result;
    for (const Copy& copy : copies_) {
      if (copy.host.is_same(result)) return copy.original;
    }
    return result.to(device);
  }

 private:
  struct Copy {
    at::Tensor original, host;
    bool written;
  };
  std::vector<Copy> copies_;
};

// Throws for tensors on several devices; 0-dim tensors may be on the CPU.
int device_in_common(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                     size_t count) {
  int device = -1;
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t) {
    if (device < 0 && holds_dl(tensor)) device = tensor.get_device();
  });
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t i) {
    if (!tensor.defined() || (holds_dl(tensor) && tensor.get_device() == device)) return;
    TORCH_CHECK(tensor.is_cpu() && tensor.dim() == 0 && !info.writes[i],
                "Expected all tensors to be on the same device, but found at least two devices, ",
                "dl:", device, " and ", tensor.device(), "! (in a call of aten::", info.name,
                " with sparse tensors)");
  });
  return device < 0 ? current_device() : device;
}

void to_host(HostCopies& copies, c10::IValue& value, bool written) {
  if (value.isTensor()) {
    value = copies.of(value.toTensor(), written);
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& each : value.toTensorVector()) list.push_back(copies.of(each, written));
    value = std::move(list);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& each : value.toOptionalTensorVector())
      list.push_back(each ? std::optional(copies.of(*each, written)) : std::nullopt);
    value = std::move(list);
  } else if (value.isDevice() && value.toDevice().type() == kDeviceType) {
    value = c10::Device(c10::kCPU);
  }
}

void to_dl(const HostCopies& copies, c10::IValue& value, c10::Device device) {
  if (value.isTensor()) {
    value = copies.on_device(value.toTensor(), device);
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& each : value.toTensorVector())
      list.push_back(copies.on_device(each, device));
    value = std::move(list);
  }
}

// The message of a CPU kernel about a dtype is useful; the dispatcher's message is not.
[[noreturn]] void refuse_sparse(const std::string& overload,
                                const c10::NotImplementedError& error) {
  const std::string said = error.what_without_backtrace();
  if (said.rfind("[dl]", 0) == 0) throw error;
  const bool is_dispatcher = said.rfind("Could not run", 0) == 0;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "[dl] aten::", overload, " does not support sparse tensors of this kind: neither ",
      "dl nor torch's CPU has a kernel for it; convert them with x.to_dense(), or use another ",
      "layout or dtype", is_dispatcher ? "" : ". Torch's CPU says: ", is_dispatcher ? "" : said);
}

}  // namespace

void sparse_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_not_forked();
  OperatorInfo& info = operator_info(op);
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  const int index = device_in_common(info, *stack, begin, count);
  const Explanation reason = explain_sparse_fallback(index);
  apply_fallback_mode(info, reason, index, *stack, begin, count);
  check_not_captured(info, index);
  typed::Count counted(info, reason);

  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const DeviceScope scope(index);
  HostCopies copies;
  for (size_t i = 0; i < count; ++i) to_host(copies, (*stack)[begin + i], info.writes[i]);
  try {
    op.callBoxed(stack);
  } catch (const c10::NotImplementedError& error) {
    refuse_sparse(info.name, error);
  } catch (const c10::Error& error) {
    Refusal::note(error);
    throw;
  }
  counted.ran();
  copies.carry_back();
  const c10::Device device(kDeviceType, static_cast<c10::DeviceIndex>(index));
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i)
    to_dl(copies, (*stack)[i], device);
}

namespace {

torch::CppFunction made_sparse_fallback() {
  return torch::CppFunction::makeFromBoxedFunction<&sparse_fallback>();
}
const bool coordinates_fall_back =
    add_layer_fallback<c10::DispatchKey::SparsePrivateUse1, &made_sparse_fallback>();
const bool compressed_fall_back =
    add_layer_fallback<c10::DispatchKey::SparseCsrPrivateUse1, &made_sparse_fallback>();

}  // namespace
}  // namespace dl::core
