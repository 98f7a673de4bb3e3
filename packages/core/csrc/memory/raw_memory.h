// Memory blocks without tensors, for programs that manage device memory by address.
#pragma once

#include <cstddef>

namespace dl::core {

// Throws c10::OutOfMemoryError.
void* allocate_raw(size_t bytes, int device);
// Throws c10::ValueError for an address that is not from allocate_raw or has been freed.
void free_raw(void* memory);

}  // namespace dl::core
