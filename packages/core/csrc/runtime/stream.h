// Streams: id 0 is the default stream of a device; others are created once and never freed.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

c10::Stream default_stream(int device);
c10::Stream current_stream(int device);
// Makes `stream` current and returns this thread's previous stream on its device. Throws if
// `stream` does not exist.
c10::Stream exchange_stream(c10::Stream stream);
// Returns one of 32 streams per device and priority, round-robin. A lower number is a higher
// priority.
c10::Stream new_stream(int device, int priority);
// Same, for priority -1 or 0.
c10::Stream pooled_stream(int device, bool high_priority);
// Priorities beyond ±3 count as ±3.
constexpr int kLargestPriority = 3;
int stream_priority(c10::Stream stream);

// The vendor's handle; NULL for the default stream.
void* native_stream(c10::Stream stream);
void* current_native_stream(int device);

// This and synchronize_device raise errors found in the data of completed work (device_error.h).
void synchronize_stream(c10::Stream stream);
bool query_stream(c10::Stream stream);
void synchronize_device(int device);

}  // namespace dl::core
