// Registry of page-locked host memory. Copies to or from other host memory must finish before the
// host continues.
#ifndef DL_KIT_PINNED_H_
#define DL_KIT_PINNED_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "dl/kit/base.h"

DL_KIT_BEGIN

class PinnedBlocks {
 public:
  void add(const void* memory, uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(memory)] = bytes;
  }
  void remove(const void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.erase(reinterpret_cast<uintptr_t>(memory));
  }
  // Returns true if the `bytes` bytes at `memory` are inside one block.
  bool holds(const void* memory, uint64_t bytes) const {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto next = blocks_.upper_bound(address);
    if (next == blocks_.begin()) return false;
    const auto block = std::prev(next);
    const uint64_t inside = address - block->first;
    return inside <= block->second && bytes <= block->second - inside;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> blocks_;  // address -> bytes
};

DL_KIT_END

#endif  // DL_KIT_PINNED_H_
