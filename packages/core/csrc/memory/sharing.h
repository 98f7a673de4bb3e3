// Storages that copies share until one of them is written: torch._lazy_clone.
#pragma once

#include <c10/core/StorageImpl.h>

namespace dl::core {

// Torch shares memory only behind pointers that need nothing but the address to be freed, and asks
// the storage's allocator for the memory of a writer. Ours know their block, and allocate on the
// current device; `storage` gets a pointer and an allocator as torch wants them. Costs nothing
// where nothing is shared.
void make_shareable(c10::StorageImpl& storage);

// What a pointer that was made shareable needed to be freed, if `deleter` is what freed it; else
// NULL.
void* context_behind(const void* memory, at::DeleterFnPtr deleter);

// Gives a storage other memory. One that shares its memory leaves it to the others.
void replace_memory(c10::StorageImpl& storage, at::DataPtr&& memory);

}  // namespace dl::core
