#include "bindings/host_alias.h"

#include <c10/core/InferenceMode.h>

#include <array>
#include <utility>

#include "aten/fallback/alias_pool.h"
#include "memory/new_tensor.h"

namespace dl::core {

bool HostAlias::is_free() const {
  // Inference tensors have a different dispatch key set.
  return seen_ && Py_REFCNT(seen_.ptr()) == 1 &&
         tensor_.unsafeGetTensorImpl()->unsafe_storage().use_count() == 1 &&
         in_inference_ == c10::InferenceMode::is_enabled();
}

pybind11::object HostAlias::over(const at::Tensor& tensor, bool written) {
  const auto* from = tensor.unsafeGetTensorImpl();
  auto* original = from->unsafe_storage().unsafeGetStorageImpl();
  // Memory shared by lazy copies is copied before it is written.
  void* data = written ? original->mutable_data() : const_cast<void*>(original->data());
  const size_t bytes = original->nbytes();
  if (is_free() && tensor_.dtype() == tensor.dtype()) {
    auto* impl = tensor_.unsafeGetTensorImpl();
    auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
    if (storage->data() != data)
      storage->set_data_ptr_noswap(at::DataPtr(data, c10::Device(c10::kCPU)));
    storage->set_nbytes(bytes);
    if (impl->sizes() != from->sizes() || impl->strides() != from->strides() ||
        impl->storage_offset() != from->storage_offset())
      impl->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
    return seen_;
  }
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes),
      at::DataPtr(data, c10::Device(c10::kCPU)), nullptr, false));
  // Python may switch threads while it allocates or frees an object, so the cached object is
  // replaced in one step under the GIL.
  at::Tensor made = rewrap(std::move(storage), tensor, kCpuKeys);
  pybind11::object seen = pybind11::cast(made);
  pybind11::object result = seen;
  std::swap(tensor_, made);
  std::swap(seen_, seen);
  in_inference_ = c10::InferenceMode::is_enabled();
  return result;
}

void HostAlias::detach(const at::Tensor& seen) {
  auto* impl = seen.unsafeGetTensorImpl();
  auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  impl->set_sizes_contiguous(std::array<int64_t, 1>{0});
  impl->set_storage_offset(0);
  storage->set_data_ptr_noswap(at::DataPtr(nullptr, c10::Device(c10::kCPU)));
  storage->set_nbytes(0);
}

}  // namespace dl::core
