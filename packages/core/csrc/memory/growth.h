// Segments: allocated from the vendor when no free block is long enough, released when unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "memory/block.h"
#include "runtime/device.h"

namespace dl::core {

// As reported by the vendor.
std::pair<size_t, size_t> free_and_total_bytes(const Device& owner);

// Allocates a segment of `bytes` for blocks of the kind of a block of `length` bytes. Returns NULL
// and sets the reason if the device is out of memory or the limit of this process is reached.
Segment* new_segment(int device, int64_t stream, size_t bytes, size_t length, std::string* reason);

// Releases all segments without tensors. Synchronizes the device, so that no enqueued work still
// uses them.
void release_unused(int device);

// Same, if `bytes` more would exceed the threshold of garbage_collection_threshold.
void collect_garbage(int device, size_t bytes);

// Throws c10::OutOfMemoryError with the memory statistics of the device.
[[noreturn]] void fail_out_of_memory(int device, int64_t stream, size_t bytes,
                                     const std::string& reason);

// Sets the fraction of the device's memory that this process may use, from 0 to 1.
void set_memory_fraction(int device, double fraction);
double memory_fraction(int device);

}  // namespace dl::core
