// Streams: id 0 is the default stream of a device; others are made once and kept for the process.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

c10::Stream default_stream(int device);
c10::Stream current_stream(int device);
// Return the previous stream of this thread on the same device. Throws if `stream` does not exist.
c10::Stream exchange_stream(c10::Stream stream);
// One of 32 streams per device and priority, in rotation. A lower number is more urgent.
c10::Stream new_stream(int device, int priority);
// The same, of priority -1 or 0.
c10::Stream pooled_stream(int device, bool high_priority);

// The vendor's handle; NULL for the default stream.
void* native_stream(c10::Stream stream);
void* current_native_stream(int device);

// This and synchronize_device raise what the work has found wrong with its data (device_error.h).
void synchronize_stream(c10::Stream stream);
bool query_stream(c10::Stream stream);
void synchronize_device(int device);

}  // namespace dl::core
