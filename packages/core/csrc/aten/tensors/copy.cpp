// Copies: within a device, between host and device, between devices, with conversion of dtype and
// layout.
#include <ATen/MemoryOverlap.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Load.h>
#include <torch/library.h>

#include "aten/fallback/host_arguments.h"
#include "aten/fallback/overlap.h"
#include "aten/kernel/composed.h"
#include "calls/call.h"
#include "memory/graph_pools.h"
#include "memory/new_tensor.h"
#include "memory/pinned.h"
#include "memory/transfer.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

Site copy_site{"_copy_from", {"_copy_from"}, {Op::diopiCopyInp}};

bool lies_on_dl(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

bool plain(const at::Tensor& tensor) { return !tensor.is_conj() && !tensor.is_neg(); }

// Returns true if both tensors are dense blocks of memory with the same strides.
bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  if (a.is_conj() != b.is_conj() || a.is_neg() != b.is_neg()) return false;
  if (a.is_contiguous() && b.is_contiguous()) return true;
  return a.strides() == b.strides() && a.is_non_overlapping_and_dense();
}

bool copy_natively(const at::Tensor& source, const at::Tensor& target) {
  const int index = target.get_device();
  const Device& owner = device_unchecked(index);
  const auto function = DL_CONTRACT_FUNCTION(owner, diopiCopyInp);
  for (const at::Tensor* tensor : {&source, &target}) {
    if (to_diopi(tensor->scalar_type()) == diopi_dtype_unsupported) return false;
  }
  if (function == nullptr || copy_site.disabled || !plain(source) || !plain(target)) return false;
  NativeCall call(copy_site, index);
  OutputHandle out(target);
  return call.run("diopiCopyInp", function, TensorHandle(source).get(), out.get());
}

// During capture, a copy from or to the host must be one block of pinned memory.
void check_capturable(int device, const at::Tensor& source, const at::Tensor& target) {
  if (C10_LIKELY(!is_capturing(device))) return;
  const at::Tensor& host = lies_on_dl(target) ? source : target;
  if (same_layout(source, target) && is_pinned(host.const_data_ptr())) return;
  check_not_capturing(device, lies_on_dl(target)
                                  ? "a copy from the host (to(), torch.tensor()) of other than "
                                    "pinned memory of the same layout and dtype"
                                  : "a copy to the host (cpu(), tolist(), print()) into other than "
                                    "pinned memory of the same layout and dtype");
}

// Calls torch's CPU kernel on aliases or staged copies of the dl tensors.
void copy_on_host(const at::Tensor& source, const at::Tensor& target) {
  const int index = lies_on_dl(target) ? target.get_device() : source.get_device();
  check_not_capturing(index, "aten::copy_, which runs on the CPU for these tensors,");
  const bool staged = !device_unchecked(index).host_accessible;
  HostArguments host(index, staged ? Twins::copy : Twins::alias, false);
  if (staged) {
    if (lies_on_dl(source)) host.survey(source);
    if (lies_on_dl(target)) host.survey(target);
  }
  host.begin();
  const at::Tensor from = lies_on_dl(source) ? host.to_host(source, false) : source;
  at::Tensor to = lies_on_dl(target) ? host.to_host(target, true) : target;
  at::native::copy_(to, from, false);
  host.finish();
}

at::Tensor expand_to(const at::Tensor& self, const at::Tensor& target) {
  return self.sizes() == target.sizes() ? self : self.expand(target.sizes());
}

// `self` is the caller's tensor before expansion, because torch's messages about overlap contain
// its shape.
void copy_same_device(const at::Tensor& self, const at::Tensor& target) {
  if (C10_UNLIKELY(overlap::meets(target, self) && !overlap::coincide(target, self))) {
    at::assert_no_partial_overlap(target, self);
    copy_same_device(self.clone(), target);
    return;
  }
  const at::Tensor source = expand_to(self, target);
  if (same_layout(source, target)) {
    if (source.const_data_ptr() == target.const_data_ptr()) return;
    copy_within_device(target.get_device(), target.mutable_data_ptr(), source.const_data_ptr(),
                       target.nbytes());
  } else if (!copy_natively(source, target)) {
    copy_on_host(source, target);
  }
}

void copy_host_to_device(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  const int index = target.get_device();
  check_capturable(index, source, target);
  if (same_layout(source, target)) {
    copy_to_device(index, target.mutable_data_ptr(), source.const_data_ptr(), target.nbytes());
    if (device_unchecked(index).synchronous || !is_pinned(source.const_data_ptr())) return;
    if (non_blocking) {
      record_pinned_use(source.const_data_ptr(), current_stream(index));
    } else {
      wait_for(index);
    }
    return;
  }
  if (device_unchecked(index).host_accessible) {
    copy_on_host(source, target);
    return;
  }
  // Convert on the host, copy one dense block, then rearrange on the device.
  at::Tensor dense =
      at::empty(target.sizes(), source.options().dtype(target.scalar_type()).pinned_memory(false));
  at::native::copy_(dense, source, false);
  if (target.is_contiguous() && plain(target)) {
    copy_to_device(index, target.mutable_data_ptr(), dense.const_data_ptr(), target.nbytes());
    return;
  }
  at::Tensor moved = empty_contiguous_like(target);
  copy_to_device(index, moved.mutable_data_ptr(), dense.const_data_ptr(), moved.nbytes());
  copy_same_device(moved, target);
}

void copy_device_to_host(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  const int index = source.get_device();
  check_capturable(index, source, target);
  if (!same_layout(source, target)) {
    copy_on_host(source, target);
    return;
  }
  copy_to_host(index, target.mutable_data_ptr(), source.const_data_ptr(), target.nbytes());
  if (device_unchecked(index).synchronous) return;
  if (non_blocking && is_pinned(target.const_data_ptr())) {
    record_pinned_use(target.const_data_ptr(), current_stream(index));
  } else {
    wait_for(index);
  }
}

// Copies one block between devices; each device makes its own tensor dense.
bool copy_as_peers(const at::Tensor& source, const at::Tensor& target) {
  const int from = source.get_device(), to = target.get_device();
  if (!has_peer_copies(from, to) || !plain(source) || !plain(target)) return false;
  at::Tensor sent = source;
  if (!same_layout(source, target) &&
      !(source.is_contiguous() && source.dtype() == target.dtype())) {
    const DeviceScope scope(from);
    sent = at::empty(source.sizes(), source.options().dtype(target.scalar_type()));
    copy_same_device(source, sent);
  }
  const at::Tensor landing = same_layout(sent, target) ? target : empty_contiguous_like(target);
  copy_to_peer(from, sent.const_data_ptr(), to, landing.mutable_data_ptr(), sent.nbytes());
  if (!landing.is_same(target)) {
    const DeviceScope scope(to);
    copy_same_device(landing, target);
  }
  return true;
}

// Vendors cannot access each other's memory, so copies go through the host, unless one vendor owns
// both devices and supports peer-to-peer copies.
void copy_between_devices(const at::Tensor& source, const at::Tensor& target) {
  if (copy_as_peers(source, target)) return;
  at::Tensor middle = at::empty(source.sizes(), source.options().device(at::kCPU));
  {
    const DeviceScope scope(source.get_device());
    copy_device_to_host(source, middle, false);
  }
  const DeviceScope scope(target.get_device());
  copy_host_to_device(middle, target, false);
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& target, bool non_blocking) {
  check_not_forked();
  if (target.numel() == 0) {
    expand_to(self, target);  // raises if the sizes do not match
    return target;
  }
  if (C10_UNLIKELY(overlap::repeats(target))) at::assert_no_internal_overlap(target);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (lies_on_dl(self) && lies_on_dl(target)) {
    if (self.get_device() == target.get_device()) {
      const DeviceScope scope(target.get_device());
      copy_same_device(self, target);
    } else {
      copy_between_devices(expand_to(self, target), target);
    }
  } else if (lies_on_dl(target)) {
    const DeviceScope scope(target.get_device());
    copy_host_to_device(expand_to(self, target), target, non_blocking);
  } else {
    const DeviceScope scope(self.get_device());
    copy_device_to_host(expand_to(self, target), target, non_blocking);
  }
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& target) {
  target.resize_(self.sizes());
  return copy_from(self, target, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  check_not_capturing(self.get_device(),
                      "aten::item (also bool(), int(), float()), which the host waits for,");
  at::Tensor host = at::empty(self.sizes(), self.options().device(at::kCPU));
  copy_from(self, host, false);
  // Any nonzero byte is true, but a C++ bool may only hold 0 or 1.
  if (host.scalar_type() == at::kBool) return c10::load(host.const_data_ptr<bool>());
  return at::native::_local_scalar_dense_cpu(host);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  DL_PROVIDED("_local_scalar_dense", local_scalar_dense);
}

// Without these kernels, resolving a conjugate would clone, which copies, which resolves again.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace dl::core
