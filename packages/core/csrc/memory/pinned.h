// Page-locked host memory for asynchronous copies.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace dl::core {

// The memory comes from the vendor of the current device, or is plain host memory if the vendor
// does not offer pinned memory.
at::HostAllocator* pinned_allocator();
bool is_pinned(const void* pointer);
// Prevents reuse of the block at `pointer` until `stream` has completed the work enqueued so far.
void record_pinned_use(const void* pointer, c10::Stream stream);
// As record_pinned_use, for noexcept contexts: if the vendor fails, the device is synchronized
// instead.
void keep_until_passed(const void* pointer, c10::Stream stream) noexcept;

}  // namespace dl::core
