// Streams: id 0 is each device's default stream; others are created once and kept for the process.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

c10::Stream default_stream(int device);
c10::Stream current_stream(int device);
// Returns the thread's previous stream on the same device.
c10::Stream exchange_stream(c10::Stream stream);
// Lower priority numbers are more urgent.
c10::Stream new_stream(int device, int priority);
// One of a small ring of streams per device and priority.
c10::Stream pooled_stream(int device, bool high_priority);

// The vendor's handle; NULL for the default stream.
void* native_stream(c10::Stream stream);
void* current_native_stream(int device);

// This and synchronize_device raise what the work has found wrong with its data (device_error.h).
void synchronize_stream(c10::Stream stream);
bool query_stream(c10::Stream stream);
void synchronize_device(int device);

}  // namespace dl::core
