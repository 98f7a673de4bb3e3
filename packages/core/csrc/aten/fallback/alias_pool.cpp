#include "aten/fallback/alias_pool.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>

#include <vector>

#include "memory/new_tensor.h"

namespace dl::core {
namespace {

constexpr size_t kKept = 16;

// Inference tensors have a different key set, so that each mode has its own pool.
std::vector<at::Tensor>& pool() {
  thread_local std::vector<at::Tensor> pools[2];
  return pools[c10::InferenceMode::is_enabled()];
}

}  // namespace

at::Tensor take_alias(const at::Tensor& view, void* data, size_t bytes) {
  auto& kept = pool();
  const auto* from = view.unsafeGetTensorImpl();
  const bool plain = !view.is_conj() && !view.is_neg() && !from->is_wrapped_number();
  at::DataPtr memory(data, c10::Device(c10::kCPU));
  if (C10_UNLIKELY(kept.empty() || !plain)) {
    c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes), std::move(memory),
        c10::GetCPUAllocator(), true));
    return rewrap(std::move(storage), view, kCpuKeys);
  }
  at::Tensor alias = std::move(kept.back());
  kept.pop_back();
  auto* impl = alias.unsafeGetTensorImpl();
  auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(std::move(memory));
  storage->set_nbytes(bytes);
  if (impl->dtype() != from->dtype())
    impl->set_storage_and_dtype(impl->unsafe_storage(), from->dtype());
  // Consecutive tensors often have the same shape.
  if (impl->sizes() != from->sizes() || impl->strides() != from->strides() ||
      impl->storage_offset() != from->storage_offset())
    impl->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  return alias;
}

void give_back_alias(at::Tensor&& alias, size_t storage_references) {
  auto* impl = alias.unsafeGetTensorImpl();
  auto& kept = pool();
  if (alias.use_count() != 1 || alias.weak_use_count() != 1 || kept.size() >= kKept) return;
  if (impl->unsafe_storage().use_count() != storage_references ||
      !impl->unsafe_storage().device().is_cpu())
    return;
  if (alias.is_conj() || alias.is_neg() || impl->is_wrapped_number() || impl->requires_grad())
    return;
  if (!impl->unsafe_storage().unsafeGetStorageImpl()->resizable()) return;
  // The alias does not own its data pointer, which is set again before the next use.
  kept.push_back(std::move(alias));
}

}  // namespace dl::core
