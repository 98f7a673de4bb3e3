// Device and host memory, and copies between them.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fake_acl.h"

using namespace fake;

namespace {

constexpr Code kWrittenPastEnd = 507053;
constexpr size_t kPage = 4096;
// Allocations are aligned to 64 bytes and have 32 spare bytes behind them, which kernels may read.
constexpr size_t kAlignment = 64, kSpare = 32;
// Fills new allocations and the bytes behind them: NaN in all floating-point formats.
constexpr int kPoison = 0xff;
// Makes an address one that no process can access.
constexpr uintptr_t kTag = uintptr_t{1} << 60;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
size_t reserved(size_t bytes) { return rounded(bytes + kSpare, kAlignment); }

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kCopyAlignment == 0;
}

}  // namespace

namespace fake {

size_t Memory::total() {
  return static_cast<size_t>(fake_driver::int_setting("FAKE_ACL_MEMORY", "1024")) << 20;
}

size_t Memory::used() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

void* Memory::allocate(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > total() - used_) return nullptr;
  const size_t room = reserved(bytes), mapped = rounded(room, kPage);
  void* begin = mmap(nullptr, mapped + kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  mprotect(static_cast<char*>(begin) + mapped, kPage, PROT_NONE);
  std::memset(begin, kPoison, mapped);
  const uintptr_t address = (reinterpret_cast<uintptr_t>(begin) + (mapped - room)) | kTag;
  pieces_[address] = {begin, mapped, bytes};
  used_ += bytes;
  return reinterpret_cast<void*>(address);
}

Memory::Release Memory::release(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
  if (found == pieces_.end()) return Release::kUnknown;
  const Piece piece = found->second;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(found->first & ~kTag);
  bool whole = true;
  for (size_t i = piece.bytes; i < reserved(piece.bytes); ++i) whole = whole && bytes[i] == kPoison;
  munmap(piece.begin, piece.mapped + kPage);
  used_ -= piece.bytes;
  pieces_.erase(found);
  return whole ? Release::kDone : Release::kOverrun;
}

void* Memory::host_address(const void* address, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  const auto next = pieces_.upper_bound(wanted);
  if (next == pieces_.begin()) return nullptr;
  const auto& [begin, piece] = *std::prev(next);
  const size_t inside = wanted - begin;
  if (inside > piece.bytes || bytes > piece.bytes - inside) return nullptr;
  return reinterpret_cast<void*>(wanted & ~kTag);
}

}  // namespace fake

FAKE void* fakeAclHostAddress(int32_t device, const void* address, size_t bytes) {
  return is_device(device) ? device_of(device).memory.host_address(address, bytes) : nullptr;
}

FAKE Code aclrtMalloc(void** memory, size_t bytes, int policy) {
  ENTER_DEVICE(aclrtMalloc);
  if (bytes == 0 || policy != kHugeFirst)
    return note(kInvalidParameter, "no bytes, or an unknown policy");
  *memory = here().memory.allocate(bytes);
  return *memory == nullptr
             ? note(kOutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes")
             : Code(kSuccess);
}
// Does not wait for the device.
FAKE Code aclrtFree(void* memory) {
  ENTER_DEVICE(aclrtFree);
  switch (here().memory.release(memory)) {
    case Memory::Release::kDone:
      return kSuccess;
    case Memory::Release::kOverrun:
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
