// The caching device allocator.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace dl::core {

// Freed blocks are cached per stream and reused in stream order (free_memory.h). A block that
// record_stream() ties to other streams is reused when these have completed their work (waiting.h).
class DeviceAllocator : public c10::DeviceAllocator {
 public:
  // As allocate(), on a given device. Throws c10::OutOfMemoryError after one retry with an empty
  // cache.
  virtual at::DataPtr allocate_on(size_t bytes, int device) = 0;
  // Turns host memory into device memory, for a vendor that accepts any host pointer. The memory is
  // counted as allocated on that device.
  virtual at::DataPtr adopt(at::DataPtr&& host_memory, size_t bytes, int device) = 0;
};

DeviceAllocator* device_allocator();

}  // namespace dl::core
