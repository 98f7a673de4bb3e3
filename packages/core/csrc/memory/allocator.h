// The caching device allocator.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace dl::core {

// Freed blocks go to a pool of their (device, stream) and are reused in that stream's order. A
// block that record_stream tied to other streams makes its own stream wait for them first. Blocks
// are never split: sizes are rounded to eight classes per power of two, which bounds the waste
// at 12.5 %.
class DeviceAllocator : public c10::DeviceAllocator {
 public:
  // As allocate(), on a given device. Throws c10::OutOfMemoryError after one retry with the cache
  // emptied.
  virtual at::DataPtr allocate_on(size_t bytes, int device) = 0;
  // Hands host memory over to a device whose vendor accepts any host pointer; counted as allocated
  // there.
  virtual at::DataPtr adopt(at::DataPtr&& host_memory, size_t bytes, int device) = 0;
};

DeviceAllocator* device_allocator();

// The visible device whose memory `pointer` lies in, or -1.
int device_of_pointer(const void* pointer);

}  // namespace dl::core
