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
// As record_pinned_use, for where nothing can be thrown: where the vendor fails, the device is
// waited for instead.
void keep_until_passed(const void* pointer, c10::Stream stream) noexcept;

}  // namespace dl::core
