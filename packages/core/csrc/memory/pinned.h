// Page-locked host memory for asynchronous copies.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace dl::core {

// Memory comes from the vendor of the current device, or from plain host memory where the vendor
// offers none.
at::HostAllocator* pinned_allocator();
bool is_pinned(const void* pointer);
// Keeps the block that `pointer` lies in from being reused before `stream` has reached this point.
void record_pinned_use(const void* pointer, c10::Stream stream);

}  // namespace dl::core
