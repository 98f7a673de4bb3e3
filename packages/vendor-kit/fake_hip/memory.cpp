// Memory of cards and of the host, and copies between them.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fake_hip.h"

using namespace fake;

namespace {

constexpr size_t kPage = 4096, kAlignment = 256;
// What is behind a piece that is not a multiple of the alignment, and in it before it is written:
// NaN in all formats.
constexpr int kPoison = 0xff;
constexpr Code kIllegalAddress = 700;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

namespace fake {

size_t Memory::total() {
  return static_cast<size_t>(card::number("FAKE_HIP_MEMORY", "1024")) << 20;
}

size_t Memory::used() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

void Memory::protect(const Piece& piece, bool whether) {
  mprotect(piece.begin, piece.mapped, whether ? PROT_READ | PROT_WRITE : PROT_NONE);
}

// A piece ends at the end of a page, and the page behind it is never open.
void* Memory::allocate(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > total() - used_) return nullptr;
  const size_t reserved = rounded(bytes, kAlignment), mapped = rounded(reserved, kPage);
  void* begin = mmap(nullptr, mapped + kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  mprotect(static_cast<char*>(begin) + mapped, kPage, PROT_NONE);
  std::memset(begin, kPoison, mapped);
  void* address = static_cast<char*>(begin) + (mapped - reserved);
  const Piece piece{begin, mapped, bytes};
  if (open_ == 0) protect(piece, false);
  pieces_[reinterpret_cast<uintptr_t>(address)] = piece;
  used_ += bytes;
  return address;
}

Code Memory::release(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
  if (found == pieces_.end()) return kInvalidValue;
  const Piece piece = found->second;
  protect(piece, true);
  bool whole = true;
  const auto* bytes = static_cast<const unsigned char*>(address);
  for (size_t i = piece.bytes; i < rounded(piece.bytes, kAlignment); ++i)
    whole = whole && bytes[i] == kPoison;
  munmap(piece.begin, piece.mapped + kPage);
  used_ -= piece.bytes;
  pieces_.erase(found);
  return whole ? int(kSuccess) : kIllegalAddress;
}

bool Memory::holds(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto next = pieces_.upper_bound(address);
  if (next == pieces_.begin()) return false;
  const auto piece = std::prev(next);
  const size_t inside = address - piece->first;
  return inside <= piece->second.bytes && bytes <= piece->second.bytes - inside;
}

void Memory::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_++ > 0) return;
  for (const auto& [address, piece] : pieces_) protect(piece, true);
}

void Memory::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--open_ > 0) return;
  for (const auto& [address, piece] : pieces_) protect(piece, false);
}

}  // namespace fake

FAKE Code hipMemGetInfo(size_t* free_bytes, size_t* total) {
  ENTER(hipMemGetInfo);
  *total = here().memory.total();
  *free_bytes = *total - here().memory.used();
  return kSuccess;
}
FAKE Code hipMalloc(void** memory, size_t bytes) {
  ENTER(hipMalloc);
  *memory = here().memory.allocate(bytes);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
// Waits for the card, as HIP's does.
FAKE Code hipFree(void* memory) {
  ENTER_AND_WAIT(hipFree);
  wait_for_all();
  return here().memory.release(memory);
}
FAKE Code hipHostMalloc(void** memory, size_t bytes, unsigned) {
  ENTER(hipHostMalloc);
  *memory = std::aligned_alloc(64, rounded(bytes, 64));
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
FAKE Code hipHostFree(void* memory) {
  ENTER_AND_WAIT(hipHostFree);
  wait_for_all();
  std::free(memory);
  return kSuccess;
}

// Never waits, whatever the host's memory is: it must stay as it is until the stream has passed.
FAKE Code hipMemcpyAsync(void* to, const void* from, size_t bytes, CopyKind kind, Stream handle) {
  ENTER(hipMemcpyAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const bool to_card = kind != kDeviceToHost, from_card = kind != kHostToDevice;
  if (kind < kHostToDevice || kind > kDeviceToDevice) return kInvalidValue;
  if (here().memory.holds(to, bytes) != to_card) return kInvalidValue;
  if (here().memory.holds(from, bytes) != from_card) return kInvalidValue;
  push(*stream, [=] { std::memmove(to, from, bytes); });
  return kSuccess;
}
FAKE Code hipMemsetAsync(void* memory, int value, size_t bytes, Stream handle) {
  ENTER(hipMemsetAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (!here().memory.holds(memory, bytes)) return kInvalidValue;
  push(*stream, [=] { std::memset(memory, value, bytes); });
  return kSuccess;
}
