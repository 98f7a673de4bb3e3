// Map from addresses to devices; modified only when a vendor allocates or frees.
#pragma once

#include <cstddef>

namespace dl::core {

void note_segment(const void* memory, size_t bytes, int device);
void forget_segment(const void* memory);

// The visible device whose memory contains `pointer`, or -1.
int device_of_pointer(const void* pointer);
// Start of the vendor's allocation that contains `pointer`, or NULL.
void* segment_of_pointer(const void* pointer);

}  // namespace dl::core
