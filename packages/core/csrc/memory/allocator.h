// The caching device allocator.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace dl::core {

// Freed blocks are cached for their stream and reused in its order (free_memory.h). A block that
// record_stream tied to other streams is not reused until these have passed (waiting.h).
class DeviceAllocator : public c10::DeviceAllocator {
 public:
  // As allocate(), on a given device. Throws c10::OutOfMemoryError after one retry with an empty
  // cache.
  virtual at::DataPtr allocate_on(size_t bytes, int device) = 0;
  // Makes host memory device memory, for a device whose vendor accepts any host pointer; counted as
  // allocated there.
  virtual at::DataPtr adopt(at::DataPtr&& host_memory, size_t bytes, int device) = 0;
};

DeviceAllocator* device_allocator();

}  // namespace dl::core
