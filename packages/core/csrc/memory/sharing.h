// Copy-on-write storages: torch._lazy_clone.
#pragma once

#include <c10/core/StorageImpl.h>

namespace dl::core {

// torch only shares memory through pointers whose context is the address itself, and allocates the
// writer's memory with the storage's allocator. Our pointers have the block as their context, and
// our allocator uses the current device. Gives `storage` a pointer and an allocator as torch
// requires them. Storages that are not shared pay nothing.
void make_shareable(c10::StorageImpl& storage);

// The original context of a shareable pointer, if `deleter` is the deleter of shareable pointers;
// otherwise NULL.
void* context_behind(const void* memory, at::DeleterFnPtr deleter);

// Replaces the memory of a storage. Other storages that share it keep it.
void replace_memory(c10::StorageImpl& storage, at::DataPtr&& memory);

}  // namespace dl::core
