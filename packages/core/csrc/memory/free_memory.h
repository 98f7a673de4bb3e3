// Free memory of one stream on one device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "memory/block.h"
#include "memory/block_class.h"

namespace dl::core {

inline constexpr size_t kSmallBlock = size_t{1} << 20;
inline constexpr size_t kSmallSegment = size_t{2} << 20;

// Limits for splitting blocks.
struct SplitLimits {
  size_t unit;            // bytes; alignment of every block
  size_t longest_split;   // blocks of at least this size are not split ...
  size_t rounding_bytes;  // ... and serve only requests that are smaller by at most this
};

// A freed block is not merged at once: programs request the same sizes repeatedly, and find such a
// block at the top of the free list of its class. Only when no block fits are neighbors merged and
// blocks are split: two-level segregated fit (Masmano et al., "TLSF: a new dynamic memory allocator
// for real-time systems", 2004) with deferred coalescing. Not thread-safe: callers hold the
// device's lock.
class FreeMemory {
 public:
  // Returns a block of at least `bytes`, a multiple of the unit; NULL if there is none.
  Block* take(size_t bytes) {
    Block*& list = kept_[block_class(bytes)];
    Block* const block = list;
    if (block == nullptr || block->bytes < bytes) return nullptr;
    list = block->next;
    block->state = BlockState::used;
    return block;
  }
  // Called when take() finds nothing: searches all classes, merges and splits.
  Block* search(size_t bytes, const SplitLimits& limits);

  void give_back(Block* block) {
    block->state = BlockState::cached;
    Block*& list = kept_[block->size_class];
    block->next = list;
    list = block;
  }

  // Adds new memory of the vendor and returns its first `bytes`.
  Block* add(Segment* segment, size_t bytes, int16_t device, int64_t stream,
             const SplitLimits& limits);

  // Returns unused segments one by one; NULL when there are no more. The caller owns them and frees
  // their memory.
  Segment* remove_unused();

  const std::unordered_set<Segment*>& segments() const { return segments_; }

  // Graph pools (graph_pools.h): free memory is reserved for the graphs until all have released it.
  void hold() { ++holders_; }
  void let_go() { --holders_; }
  bool is_held() const { return holders_ > 0; }

 private:
  static constexpr int kWords = kBlockClasses / 64;

  struct Lists {
    std::array<Block*, kBlockClasses> first{};
    std::array<uint64_t, kWords> filled{};
  };

  Lists& lists_of(const Block* block) { return lists_[block->segment->small]; }
  Block* fit(size_t bytes, const SplitLimits& limits);
  Block* split(Block* block, size_t bytes, const SplitLimits& limits);
  void merge_cached();
  void insert(Block* block);
  void remove(Block* block);
  Block* join(Block* block);

  std::array<Block*, kBlockClasses> kept_{};
  std::array<Lists, 2> lists_;  // of large and of small segments
  std::unordered_set<Segment*> segments_;
  int holders_ = 0;
};

}  // namespace dl::core
