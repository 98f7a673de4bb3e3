// Which memory belongs to which device; changed only when a vendor allocates or frees.
#pragma once

#include <cstddef>

namespace dl::core {

void note_segment(const void* memory, size_t bytes, int device);
void forget_segment(const void* memory);

// The visible device whose memory `pointer` lies in, or -1.
int device_of_pointer(const void* pointer);
// Where the memory begins that `pointer` lies in, as the vendor gave it, or NULL.
void* segment_of_pointer(const void* pointer);

}  // namespace dl::core
