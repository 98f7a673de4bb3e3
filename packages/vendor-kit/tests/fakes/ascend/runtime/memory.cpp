// Device and host memory, and copies between them.
#include <cstdlib>
#include <cstring>

#include "fake_acl.h"

using namespace fake;

namespace {

constexpr Code kWrittenPastEnd = 507053;
bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kCopyAlignment == 0;
}

}  // namespace

namespace fake {

size_t memory_total() {
  return static_cast<size_t>(fake_driver::int_setting("FAKE_ACL_MEMORY", "1024")) << 20;
}

}  // namespace fake

FAKE void* fakeAclHostAddress(int32_t device, const void* address, size_t bytes) {
  return is_device(device) ? device_of(device).memory.host_address(address, bytes) : nullptr;
}

FAKE Code aclrtMalloc(void** memory, size_t bytes, int policy) {
  ENTER_DEVICE(aclrtMalloc);
  if (bytes == 0 || policy != kHugeFirst)
    return note(kInvalidParameter, "no bytes, or an unknown policy");
  *memory = here().memory.allocate(bytes, memory_total());
  return *memory == nullptr
             ? note(kOutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes")
             : Code(kSuccess);
}
// Does not wait for the device.
FAKE Code aclrtFree(void* memory) {
  ENTER_DEVICE(aclrtFree);
  switch (here().memory.release(memory)) {
    case fake_driver::TaggedMemory::Release::kDone:
      return kSuccess;
    case fake_driver::TaggedMemory::Release::kOverrun:
      return note(kWrittenPastEnd, "a kernel has written past the end of the memory");
    default:
      return note(kInvalidParameter, "not memory of the current device");
  }
}
FAKE Code aclrtMallocHost(void** memory, size_t bytes) {
  ENTER_DEVICE(aclrtMallocHost);
  if (bytes == 0) return note(kInvalidParameter, "no bytes");
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? Code(kOutOfMemory) : Code(kSuccess);
}
FAKE Code aclrtFreeHost(void* memory) {
  ENTER_DEVICE(aclrtFreeHost);
  std::free(memory);
  return kSuccess;
}

// Never waits, even for pageable host memory, which must not change until the copy has run.
FAKE Code aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t bytes, int kind,
                           Stream handle) {
  ENTER_DEVICE(aclrtMemcpyAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (kind < kHostToDevice || kind > kDeviceToDevice || bytes == 0 || bytes > room)
    return note(kInvalidParameter, "unknown kind, no bytes, or more bytes than there is room for");
  const bool to_device = kind != kDeviceToHost, from_device = kind != kHostToDevice;
  if (here().memory.holds(to, bytes) != to_device ||
      here().memory.holds(from, bytes) != from_device)
    return note(kInvalidParameter, "an address is not of the kind of memory that was stated");
  if (kind == kDeviceToDevice && !(is_aligned(to) && is_aligned(from)))
    return note(kUnaligned, "copies on the device need addresses that are multiples of 64");
  void* const target = to_device ? here().memory.host_address(to, bytes) : to;
  const void* const source = from_device ? here().memory.host_address(from, bytes) : from;
  push(*stream, [=] {
    std::memmove(target, source, bytes);
    return 0;
  });
  return kSuccess;
}
FAKE Code aclrtMemsetAsync(void* memory, size_t room, int32_t value, size_t bytes, Stream handle) {
  ENTER_DEVICE(aclrtMemsetAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  void* const target = here().memory.host_address(memory, bytes);
  if (bytes > room || target == nullptr)
    return note(kInvalidParameter, "not memory of the current device, or the range exceeds it");
  push(*stream, [=] {
    std::memset(target, value, bytes);
    return 0;
  });
  return kSuccess;
}
