// Pool of CPU tensor objects for the aliases of the zero-copy fallback: allocating and freeing a
// tensor and a storage costs more than a small kernel.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core {

// Dispatch keys of the CPU tensors that alias device tensors.
inline constexpr c10::DispatchKeySet kCpuKeys{c10::DispatchKey::CPU};

// Returns a CPU tensor over `bytes` at `data`, with the geometry of `view`. It has its own storage,
// which does not own the memory.
at::Tensor take_alias(const at::Tensor& view, void* data, size_t bytes);

// Returns `alias` to the pool of this thread unless another reference to it or its storage exists.
// `storage_references` is the number of the caller's handles on the storage, including the alias's
// own.
void give_back_alias(at::Tensor&& alias, size_t storage_references);

}  // namespace dl::core
