// The caching device allocator.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace dl::core {

// Freed blocks are kept for their stream and used again in its order (free_memory.h). One that
// record_stream tied to other streams is kept back until these have passed (waiting.h).
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

}  // namespace dl::core
