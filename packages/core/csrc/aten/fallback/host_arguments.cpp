#include "aten/fallback/host_arguments.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>

#include "aten/fallback/alias_pool.h"
#include "memory/allocator.h"
#include "memory/new_tensor.h"
#include "memory/sharing.h"
#include "memory/transfer.h"
#include "runtime/recorder.h"

namespace dl::core {
namespace {

// A multiple of every element size, so that offsets are whole elements after staging.
constexpr size_t kAlignment = 16;

// If a CPU kernel resizes a twin, it allocates plain host memory; carry_resize() moves the contents
// to the device.
c10::Storage make_host_storage(at::DataPtr data, size_t bytes) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes), std::move(data),
      c10::GetCPUAllocator(), true));
}

// Offsets of the first byte of `tensor` and of the byte behind its last one.
std::pair<size_t, size_t> span(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return {0, 0};
  size_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) elements += (tensor.size(i) - 1) * tensor.stride(i);
  const size_t first = tensor.storage_offset() * tensor.itemsize();
  return {first, first + elements * tensor.itemsize()};
}

c10::StorageImpl* storage_impl(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

// Returns true if a tensor returned by a kernel has no other references, so that its storage can be
// reused.
bool is_unshared(const at::Tensor& tensor) {
  const auto* impl = tensor.unsafeGetTensorImpl();
  return tensor.use_count() == 1 && tensor.weak_use_count() == 1 &&
         impl->autograd_meta() == nullptr && !impl->is_python_dispatch() &&
         impl->pyobj_slot()->load_pyobj() == nullptr;
}

}  // namespace

size_t HostArguments::twin_of(const at::Tensor& tensor) {
  auto* impl = storage_impl(tensor);
  for (size_t i = 0; i < twins_.size(); ++i) {
    if (twins_[i].original.unsafeGetStorageImpl() == impl) return i;
  }
  twins_.emplace_back();
  twins_.back().original = tensor.storage();
  return twins_.size() - 1;
}

void HostArguments::survey(const at::Tensor& tensor) {
  Twin& twin = twins_[twin_of(tensor)];
  auto [first, last] =
      whole_storage_ ? std::pair<size_t, size_t>{0, twin.original.nbytes()} : span(tensor);
  if (first == last) return;
  first = first / kAlignment * kAlignment;
  twin.first = twin.last == 0 ? first : std::min(twin.first, first);
  twin.last = std::max(twin.last, last);
}

void HostArguments::note_cpu_input(const at::Tensor& tensor) {
  if (tensor.has_storage()) cpu_inputs_.push_back(storage_impl(tensor));
}

void HostArguments::begin() {
  if (is_recorded()) record_event("host");
  for (Twin& twin : twins_) make_staged(twin);
  if (kind_ != Twins::blank) wait_for(device_);
}

void HostArguments::make_staged(Twin& twin) {
  const size_t bytes = twin.last - twin.first;
  at::DataPtr memory = c10::GetCPUAllocator()->allocate(bytes);
  if (kind_ == Twins::blank) {
    std::memset(memory.get(), 0, bytes);
  } else if (bytes > 0) {
    copy_to_host(device_, memory.get(), static_cast<const char*>(twin.original.data()) + twin.first,
                 bytes);
  }
  twin.host = make_host_storage(std::move(memory), bytes);
  twin.data = twin.host.mutable_data();
  twin.bytes = bytes;
}

void HostArguments::mark_written(Twin& twin) {
  twin.written = true;
  auto* original = twin.original.unsafeGetStorageImpl();
  // Staged tensors are copied back, which materializes lazy copies like any other write.
  if (C10_LIKELY(!original->has_materializer()) || kind_ != Twins::alias) return;
  void* data = original->mutable_data();
  wait_for(device_);
  if (!twin.host) return;
  twin.data = data;
  twin.host.unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(data, c10::Device(c10::kCPU)));
}

at::Tensor HostArguments::to_host(const at::Tensor& tensor, bool written) {
  for (const Argument& argument : arguments_) {
    if (argument.original.is_same(tensor)) {
      if (written) mark_written(twins_[argument.twin]);
      return argument.host;
    }
  }
  const size_t index = twin_of(tensor);
  Twin& twin = twins_[index];
  if (written) mark_written(twin);
  if (C10_LIKELY(!twin.host)) {
    twin.bytes = twin.original.nbytes();
    twin.data = const_cast<void*>(twin.original.data());
    at::Tensor host = take_alias(tensor, twin.data, twin.bytes);
    twin.host = host.storage();
    arguments_.push_back({tensor, host, index, true});
    return host;
  }
  at::Tensor host = rewrap(twin.host, tensor, kCpuKeys);
  if (twin.first != 0 && tensor.numel() != 0) {
    const int64_t shift = static_cast<int64_t>(twin.first / tensor.itemsize());
    host.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset() - shift);
  }
  arguments_.push_back({tensor, host, index, false});
  return host;
}

HostArguments::~HostArguments() {
  for (Argument& argument : arguments_) {
    // The storage has two references: the twin and the tensor.
    if (argument.pooled) give_back_alias(std::move(argument.host), 2);
  }
}

void HostArguments::carry_resize(Twin& twin) {
  auto* host = twin.host.unsafeGetStorageImpl();
  if (C10_LIKELY(host->data() == twin.data && host->nbytes() == twin.bytes)) {
    if (kind_ == Twins::copy && twin.written && twin.bytes > 0) {
      copy_to_device(device_, static_cast<char*>(twin.original.mutable_data()) + twin.first,
                     twin.data, twin.bytes);
    }
    return;
  }
  TORCH_CHECK(twin.first == 0,
              "[dl] a view at an offset cannot be resized by a fallback on dl:", device_,
              "; resize the tensor it views");
  auto* original = twin.original.unsafeGetStorageImpl();
  const size_t bytes = host->nbytes();
  at::DataPtr grown = device_allocator()->allocate_on(bytes, device_);
  if (bytes > 0) copy_to_device(device_, grown.get(), host->data(), bytes);
  if (!device_unchecked(device_).synchronous) wait_for(device_);
  replace_memory(*original, std::move(grown));
  original->set_nbytes(bytes);
}

const HostArguments::Twin* HostArguments::find_twin(const c10::StorageImpl* host) const {
  for (const Twin& twin : twins_) {
    if (twin.host && twin.host.unsafeGetStorageImpl() == host) return &twin;
  }
  return nullptr;
}

void HostArguments::carry_geometry(const Argument& argument) {
  const auto* host = argument.host.unsafeGetTensorImpl();
  auto* original = argument.original.unsafeGetTensorImpl();
  const Twin* twin = &twins_[argument.twin];
  auto* storage = host->unsafe_storage().unsafeGetStorageImpl();
  if (C10_UNLIKELY(storage != twin->host.unsafeGetStorageImpl())) {
    // The kernel replaced the tensor's storage, by another argument's storage or by a new one.
    twin = find_twin(storage);
    original->set_storage_keep_dtype(twin != nullptr ? twin->original
                                                     : to_device_storage(host->unsafe_storage()));
  }
  int64_t shift = 0;
  if (twin != nullptr && twin->first != 0 && host->numel() != 0)
    shift = static_cast<int64_t>(twin->first / host->itemsize());
  if (C10_UNLIKELY(host->sizes() != original->sizes() || host->strides() != original->strides() ||
                   host->storage_offset() + shift != original->storage_offset())) {
    original->set_sizes_and_strides(host->sizes(), host->strides(), host->storage_offset() + shift);
  }
  if (C10_UNLIKELY(argument.host.is_conj() != argument.original.is_conj()))
    original->_set_conj(argument.host.is_conj());
  if (C10_UNLIKELY(argument.host.is_neg() != argument.original.is_neg()))
    original->_set_neg(argument.host.is_neg());
}

void HostArguments::finish() {
  for (Twin& twin : twins_) {
    if (twin.host) carry_resize(twin);
  }
  for (const Argument& argument : arguments_) {
    if (twins_[argument.twin].written) carry_geometry(argument);
  }
}

std::string HostArguments::describe() const {
  std::string text;
  for (const Argument& argument : arguments_) {
    text += c10::str(text.empty() ? "" : ", ", argument.original.scalar_type(),
                     argument.original.sizes());
  }
  return text;
}

// Returns the device counterpart of a CPU storage that is not a twin: the same storage, adopted, or
// a copy.
c10::Storage HostArguments::to_device_storage(const c10::Storage& host) {
  auto* impl = host.unsafeGetStorageImpl();
  if (impl->device().type() == kDeviceType) return host;  // adopted for an earlier output
  for (const auto& [from, to] : copied_) {
    if (from.unsafeGetStorageImpl() == impl) return to;
  }
  const size_t bytes = impl->nbytes();
  const bool shared = std::find(cpu_inputs_.begin(), cpu_inputs_.end(), impl) != cpu_inputs_.end();
  if (C10_LIKELY(device_unchecked(device_).any_host_pointer && impl->resizable() && !shared)) {
    at::DataPtr memory = impl->set_data_ptr(at::DataPtr(nullptr, c10::Device(c10::kCPU)));
    impl->set_data_ptr_noswap(device_allocator()->adopt(std::move(memory), bytes, device_));
    impl->set_allocator(device_allocator());
    return host;
  }
  at::DataPtr memory = device_allocator()->allocate_on(bytes, device_);
  if (bytes > 0) copy_to_device(device_, memory.get(), impl->data(), bytes);
  c10::Storage made(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes), std::move(memory),
      device_allocator(), true));
  copied_.emplace_back(host, made);
  return made;
}

at::Tensor HostArguments::to_device(const at::Tensor& output) {
  if (!output.defined() || !output.is_cpu()) return output;
  TORCH_CHECK_NOT_IMPLEMENTED(!output.is_quantized(),
                              "[dl] the result is quantized, which dl devices do not support; "
                              "compute it on the CPU (x.cpu())");
  TORCH_CHECK_NOT_IMPLEMENTED(!output.is_nested(),
                              "[dl] the result is a nested tensor of layout torch.strided, which "
                              "dl devices do not support; use layout=torch.jagged");
  TORCH_CHECK_NOT_IMPLEMENTED(output.layout() == at::kStrided && output.has_storage(),
                              "[dl] the result has layout ", output.layout(),
                              ", which dl devices do not support; compute it on the CPU (x.cpu())");
  for (const Argument& argument : arguments_) {
    if (argument.host.is_same(output)) return argument.original;
  }
  if (const Twin* twin = find_twin(storage_impl(output))) {
    at::Tensor view = rewrap(twin->original, output, kDlKeys);
    if (twin->first != 0 && output.numel() != 0) {
      const int64_t shift = static_cast<int64_t>(twin->first / output.itemsize());
      view.unsafeGetTensorImpl()->set_storage_offset(output.storage_offset() + shift);
    }
    return view;
  }
  c10::Storage storage = to_device_storage(output.storage());
  if (C10_LIKELY(is_unshared(output) && storage_impl(output) == storage.unsafeGetStorageImpl())) {
    const c10::Device device = storage.device();
    auto* impl = output.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(std::move(storage));
    impl->_change_backend_component_keys(device);
    return output;
  }
  return rewrap(std::move(storage), output, kDlKeys);
}

}  // namespace dl::core
