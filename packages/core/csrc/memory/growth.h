// Segments: taken from the vendor when nothing free is long enough, given back when unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "memory/block.h"
#include "runtime/device.h"

namespace dl::core {

// As the vendor tells.
std::pair<size_t, size_t> free_and_total_bytes(const Device& owner);

// A new segment of `bytes` for blocks like one of `length` bytes; NULL, and the reason, when the
// device has no memory left or the process may not take more.
Segment* new_segment(int device, int64_t stream, size_t bytes, size_t length, std::string* reason);

// Gives all segments back that no tensor uses. Waits for the device: nothing enqueued can use one.
void release_unused(int device);

// The same if so many more bytes pass the threshold of garbage_collection_threshold.
void collect_garbage(int device, size_t bytes);

// Throws c10::OutOfMemoryError with the numbers of the device.
[[noreturn]] void fail_out_of_memory(int device, int64_t stream, size_t bytes,
                                     const std::string& reason);

// The part of the device's memory that this process may take, from 0 to 1.
void set_memory_fraction(int device, double fraction);
double memory_fraction(int device);

}  // namespace dl::core
