// The free memory of one stream of one device.
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

// How blocks may be cut.
struct SplitLimits {
  size_t unit;            // bytes; where every block begins and ends
  size_t longest_split;   // blocks of at least so many bytes are handed out whole
  size_t rounding_bytes;  // ... to requests that are so much smaller at most
};

// A block that is freed is kept as it is: programs ask for the same sizes again and again, and find
// them at the top of the list of their class. Only when nothing fits are neighbours made one, and
// the rest of a longer block is used: two-level segregated fit (Masmano et al., "TLSF: a new
// dynamic memory allocator for real-time systems", 2004) with deferred coalescing.
//
// Not thread-safe: the device's lock is held.
class FreeMemory {
 public:
  // A block of at least `bytes`, a multiple of the unit; NULL if there is none.
  Block* take(size_t bytes) {
    Block*& list = kept_[block_class(bytes)];
    Block* const block = list;
    if (block == nullptr || block->bytes < bytes) return nullptr;
    list = block->next;
    block->state = BlockState::used;
    return block;
  }
  // The same where take() found nothing: looks further, and cuts.
  Block* search(size_t bytes, const SplitLimits& limits);

  void give_back(Block* block) {
    block->state = BlockState::kept;
    Block*& list = kept_[block->size_class];
    block->next = list;
    list = block;
  }

  // Takes over new memory of the vendor and hands out the first `bytes` of it.
  Block* add(Segment* segment, size_t bytes, int16_t device, int64_t stream,
             const SplitLimits& limits);

  // Hands out segments that nothing uses, one after the other; NULL when there are no more. The
  // caller owns them and frees their memory.
  Segment* remove_unused();

  const std::unordered_set<Segment*>& segments() const { return segments_; }

  // Memory of captured graphs (graph_pools.h): what is free is theirs until each has let go.
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
  Block* cut(Block* block, size_t bytes, const SplitLimits& limits);
  void merge_kept();
  void insert(Block* block);
  void remove(Block* block);
  Block* join(Block* block);

  std::array<Block*, kBlockClasses> kept_{};
  std::array<Lists, 2> lists_;  // of large and of small segments
  std::unordered_set<Segment*> segments_;
  int holders_ = 0;
};

}  // namespace dl::core
