// Per-thread cache of scratch memory. The system unmaps large blocks when they are freed, and
// clears them page by page when they are allocated again, which took a third of the time of a small
// ResNet's training step.
#ifndef DL_KERNELS_CPU_SCRATCH_H_
#define DL_KERNELS_CPU_SCRATCH_H_

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct ScratchBlock {
  void* memory = nullptr;
  size_t bytes = 0;
};

// The cache of one thread. All threads together keep at most kMost bytes.
class ScratchCache {
 public:
  ScratchCache() = default;
  ~ScratchCache() {
    while (count_ > 0) forget_oldest();
  }
  ScratchCache(const ScratchCache&) = delete;
  ScratchCache& operator=(const ScratchCache&) = delete;

  static ScratchCache& of_thread() {
    thread_local ScratchCache cache;
    return cache;
  }

  // Return a block of at least `bytes` bytes, aligned to 64; null if memory is exhausted.
  ScratchBlock take(size_t bytes) {
    // Best fit within limits: a nested call may need a much larger block.
    int best = -1;
    for (int i = 0; i < count_ && bytes >= kSmallest; ++i) {
      if (blocks_[i].bytes >= bytes && blocks_[i].bytes / 4 <= bytes &&
          (best < 0 || blocks_[i].bytes < blocks_[best].bytes))
        best = i;
    }
    if (best >= 0) return remove(best);
    const size_t rounded = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
    void* made = std::aligned_alloc(64, rounded);
    // Release cached blocks: they may be the missing memory.
    while (made == nullptr && count_ > 0) {
      forget_oldest();
      made = std::aligned_alloc(64, rounded);
    }
    return {made, rounded};
  }

  void give(const ScratchBlock& block) {
    if (block.memory == nullptr) return;
    if (!kKeeps || block.bytes < kSmallest || block.bytes > kMost) {
      std::free(block.memory);
      return;
    }
    if (count_ == kBlocks) forget_oldest();
    size_t all = kept_.fetch_add(block.bytes) + block.bytes;
    for (; all > kMost && count_ > 0; all = kept_.load()) forget_oldest();
    if (all > kMost) {  // other threads hold the rest
      kept_ -= block.bytes;
      std::free(block.memory);
      return;
    }
    blocks_[count_++] = block;
  }

 private:
  static constexpr int kBlocks = 16;
  static constexpr size_t kSmallest = size_t(64) << 10, kMost = size_t(128) << 20;
  // Poison the bytes beyond the request, so that AddressSanitizer reports accesses to them in a
  // reused block.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kKeeps = false;
#else
  static constexpr bool kKeeps = true;
#endif

  ScratchBlock remove(int index) {
    const ScratchBlock found = blocks_[index];
    --count_;
    std::memmove(blocks_ + index, blocks_ + index + 1, (count_ - index) * sizeof(ScratchBlock));
    kept_ -= found.bytes;
    return found;
  }
  void forget_oldest() { std::free(remove(0).memory); }

  inline static std::atomic<size_t> kept_{0};
  ScratchBlock blocks_[kBlocks];
  int count_ = 0;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SCRATCH_H_
