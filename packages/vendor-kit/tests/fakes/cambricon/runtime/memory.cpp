// Device and host memory, and copies between them.
#include <cstdlib>
#include <cstring>

#include "fake_cnrt.h"

using namespace fake;

FAKE void* fakeCnrtHostAddress(int device, const void* address, size_t bytes) {
  if (device < 0 || device >= count()) return nullptr;
  return device_of(device).memory.host_address(address, bytes);
}

FAKE Code cnrtMemGetInfo(size_t* free_bytes, size_t* total) {
  ENTER(cnrtMemGetInfo);
  *total = memory_total();
  *free_bytes = *total - here().memory.used();
  return kSuccess;
}
FAKE Code cnrtMalloc(void** memory, size_t bytes) {
  ENTER(cnrtMalloc);
  if (bytes == 0) return kInvalidArgument;
  *memory = here().memory.allocate(bytes, memory_total());
  return *memory == nullptr ? Code(kOutOfMemory) : Code(kSuccess);
}
// Does not wait for the device.
FAKE Code cnrtFree(void* memory) {
  ENTER(cnrtFree);
  switch (here().memory.release(memory)) {
    case fake_driver::TaggedMemory::Release::kDone:
      return kSuccess;
    case fake_driver::TaggedMemory::Release::kOverrun:
      return kKernelTrap;
    default:
      return kInvalidArgument;
  }
}
FAKE Code cnrtHostMalloc(void** memory, size_t bytes) {
  ENTER(cnrtHostMalloc);
  if (bytes == 0) return kInvalidArgument;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? Code(kHostOutOfMemory) : Code(kSuccess);
}
FAKE Code cnrtFreeHost(void* memory) {
  ENTER(cnrtFreeHost);
  std::free(memory);
  return kSuccess;
}

#ifndef OLD
// Never waits, even for pageable host memory, which must not change until the copy has run.
FAKE Code cnrtMemcpyAsync_V2(void* to, void* from, size_t bytes, Queue handle, int direction) {
  ENTER(cnrtMemcpyAsync_V2);
  QueueObject* queue = find(handle);
  if (queue == nullptr) return kInvalidHandle;
  if (direction < kHostToDevice || direction > kDeviceToHost) return kWrongDirection;
  const bool to_device = direction != kDeviceToHost, from_device = direction != kHostToDevice;
  if (here().memory.holds(to, bytes) != to_device ||
      here().memory.holds(from, bytes) != from_device)
    return kWrongDirection;
  void* const target = to_device ? here().memory.host_address(to, bytes) : to;
  const void* const source = from_device ? here().memory.host_address(from, bytes) : from;
  push(*queue, [=] {
    std::memmove(target, source, bytes);
    return 0;
  });
  return kSuccess;
}
#endif
FAKE Code cnrtMemsetAsync(void* memory, int value, size_t bytes, Queue handle) {
  ENTER(cnrtMemsetAsync);
  QueueObject* queue = find(handle);
  if (queue == nullptr) return kInvalidHandle;
  void* const target = here().memory.host_address(memory, bytes);
  if (target == nullptr) return kInvalidArgument;
  push(*queue, [=] {
    std::memset(target, value, bytes);
    return 0;
  });
  return kSuccess;
}
