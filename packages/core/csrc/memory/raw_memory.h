// Blocks without a tensor, for programs that manage device memory by address.
#pragma once

#include <cstddef>

namespace dl::core {

// Throws c10::OutOfMemoryError.
void* allocate_raw(size_t bytes, int device);
// Throws c10::ValueError for an address that allocate_raw did not give, or that was freed already.
void free_raw(void* memory);

}  // namespace dl::core
