// Memory of a fake device. Its addresses are tagged, so that the host faults on them; a page behind
// each allocation is never accessible, and the bytes before that page are checked for writes past
// the end.
#ifndef DL_FAKES_TAGGED_MEMORY_H_
#define DL_FAKES_TAGGED_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#pragma GCC visibility push(hidden)

namespace fake_driver {

class TaggedMemory {
 public:
  // kOverrun: something has written past the end of the allocation.
  enum class Release { kDone, kUnknown, kOverrun };

  // Allocations are aligned to `alignment` bytes and have `spare` bytes behind them.
  TaggedMemory(size_t alignment, size_t spare) : alignment_(alignment), spare_(spare) {}

  // Returns null if `total` bytes, the size of the device, are exceeded.
  void* allocate(size_t bytes, size_t total) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > total - used_) return nullptr;
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

  Release release(void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
    if (found == pieces_.end()) return Release::kUnknown;
    const Piece piece = found->second;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(found->first & ~kTag);
    bool whole = true;
    for (size_t i = piece.bytes; i < reserved(piece.bytes); ++i)
      whole = whole && bytes[i] == kPoison;
    munmap(piece.begin, piece.mapped + kPage);
    used_ -= piece.bytes;
    pieces_.erase(found);
    return whole ? Release::kDone : Release::kOverrun;
  }

  // Returns the host's address of memory inside one allocation, or null.
  void* host_address(const void* address, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const auto next = pieces_.upper_bound(wanted);
    if (next == pieces_.begin()) return nullptr;
    const auto& [begin, piece] = *std::prev(next);
    const size_t inside = wanted - begin;
    if (inside > piece.bytes || bytes > piece.bytes - inside) return nullptr;
    return reinterpret_cast<void*>(wanted & ~kTag);
  }

  bool holds(const void* address, size_t bytes) { return host_address(address, bytes) != nullptr; }
  size_t used() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
  }

 private:
  struct Piece {
    void* begin;    // host address of its first page
    size_t mapped;  // without the guard page after it
    size_t bytes;   // requested size
  };
  static constexpr size_t kPage = 4096;
  // Fills new allocations and the bytes behind them: NaN in all floating-point formats.
  static constexpr int kPoison = 0xff;
  // Makes an address one that no process can access.
  static constexpr uintptr_t kTag = uintptr_t{1} << 60;

  static size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
  size_t reserved(size_t bytes) const { return rounded(bytes + spare_, alignment_); }

  const size_t alignment_, spare_;
  std::mutex mutex_;
  std::map<uintptr_t, Piece> pieces_;  // by the returned address
  size_t used_ = 0;
};

}  // namespace fake_driver

#pragma GCC visibility pop

#endif  // DL_FAKES_TAGGED_MEMORY_H_
