// CPU tensor objects for the aliases of the zero-copy fallback, kept between calls: making and
// freeing a tensor and a storage costs more than a small kernel.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core {

// Of the CPU tensors that stand for those of the device.
inline constexpr c10::DispatchKeySet kCpuKeys{c10::DispatchKey::CPU};

// A CPU tensor over `bytes` at `data`, with the geometry of `view`. Its storage is its own and owns
// nothing.
at::Tensor take_alias(const at::Tensor& view, void* data, size_t bytes);

// Keeps `alias` for the next call on this thread unless something else still refers to it or its
// storage. `storage_references` counts the caller's own handles on the storage, the alias's
// included.
void give_back_alias(at::Tensor&& alias, size_t storage_references);

}  // namespace dl::core
