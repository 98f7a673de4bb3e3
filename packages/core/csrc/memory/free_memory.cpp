#include "memory/free_memory.h"

namespace dl::core {
namespace {

constexpr int kMaxTries = 8;  // blocks tried in the request's own class, which may be too short

// The first non-empty class from `from` on, or kBlockClasses.
template <size_t words>
int first_filled(const std::array<uint64_t, words>& filled, int from) {
  size_t word = static_cast<size_t>(from) / 64;
  if (word >= words) return kBlockClasses;
  uint64_t bits = filled[word] & (~uint64_t{0} << (from % 64));
  while (bits == 0) {
    if (++word == words) return kBlockClasses;
    bits = filled[word];
  }
  return static_cast<int>(word * 64) + __builtin_ctzll(bits);
}

bool serves(const Block* block, size_t bytes, const SplitLimits& limits) {
  if (block->bytes < bytes) return false;
  if (block->bytes < limits.longest_split) return true;
  return bytes >= limits.longest_split && block->bytes - bytes <= limits.rounding_bytes;
}

}  // namespace

Block* FreeMemory::search(size_t bytes, const SplitLimits& limits) {
  int looks = kMaxTries;
  for (Block** link = &kept_[block_class(bytes)]; *link != nullptr && looks-- > 0;
       link = &(*link)->next) {
    Block* const block = *link;
    if (block->bytes < bytes) continue;
    *link = block->next;
    block->state = BlockState::used;
    return block;
  }
  Block* found = fit(bytes, limits);
  if (found == nullptr) {
    merge_cached();
    found = fit(bytes, limits);
  }
  if (found == nullptr) return nullptr;
  remove(found);
  return split(found, bytes, limits);
}

Block* FreeMemory::fit(size_t bytes, const SplitLimits& limits) {
  const Lists& lists = lists_[bytes <= kSmallBlock];
  const int own = block_class(bytes);
  int looks = kMaxTries;
  for (Block* block = lists.first[own]; block != nullptr && looks-- > 0; block = block->next)
    if (serves(block, bytes, limits)) return block;
  for (int other = first_filled(lists.filled, own + 1); other < kBlockClasses;
       other = first_filled(lists.filled, other + 1)) {
    for (Block* block = lists.first[other]; block != nullptr; block = block->next)
      if (serves(block, bytes, limits)) return block;
    // the blocks that follow are longer
    if (lists.first[other]->bytes >= limits.longest_split) break;
  }
  return nullptr;
}

Block* FreeMemory::split(Block* block, size_t bytes, const SplitLimits& limits) {
  const size_t rest = block->bytes - bytes;
  const size_t least = block->segment->small ? limits.unit : kSmallBlock + limits.unit;
  block->state = BlockState::used;
  block->size_class = static_cast<int16_t>(block_class(bytes));
  if (rest < least || block->bytes >= limits.longest_split) return block;
  auto* remainder =
      new Block{block->memory + bytes, rest, block->segment, block->stream, block->device};
  remainder->before = block;
  remainder->after = block->after;
  if (block->after != nullptr) block->after->before = remainder;
  block->after = remainder;
  block->bytes = bytes;
  insert(remainder);
  return block;
}

Block* FreeMemory::add(Segment* segment, size_t bytes, int16_t device, int64_t stream,
                       const SplitLimits& limits) {
  auto* block =
      new Block{static_cast<char*>(segment->memory), segment->bytes, segment, stream, device};
  segment->first = block;
  segment->pool = this;
  segments_.insert(segment);
  return split(block, bytes, limits);
}

void FreeMemory::merge_cached() {
  for (Block*& list : kept_) {
    while (list != nullptr) {
      Block* const block = list;
      list = block->next;
      block->state = BlockState::free;
      insert(join(block));
    }
  }
}

Block* FreeMemory::join(Block* block) {
  // Merges the right one of two neighbors into the left one.
  const auto absorb = [](Block* left, Block* right) {
    left->bytes += right->bytes;
    left->after = right->after;
    if (right->after != nullptr) right->after->before = left;
    delete right;
  };
  if (Block* after = block->after; after != nullptr && after->state == BlockState::free) {
    remove(after);
    absorb(block, after);
  }
  if (Block* before = block->before; before != nullptr && before->state == BlockState::free) {
    remove(before);
    absorb(before, block);
    return before;
  }
  return block;
}

Segment* FreeMemory::remove_unused() {
  merge_cached();
  for (Segment* segment : segments_) {
    Block* const block = segment->first;
    if (block->state != BlockState::free || block->after != nullptr) continue;
    remove(block);
    delete block;
    segments_.erase(segment);
    return segment;
  }
  return nullptr;
}

void FreeMemory::insert(Block* block) {
  Lists& lists = lists_of(block);
  const int own = block_class(block->bytes);
  block->previous = nullptr;
  block->next = lists.first[own];
  if (block->next != nullptr) block->next->previous = block;
  lists.first[own] = block;
  lists.filled[own / 64] |= uint64_t{1} << (own % 64);
}

void FreeMemory::remove(Block* block) {
  Lists& lists = lists_of(block);
  const int own = block_class(block->bytes);
  if (block->next != nullptr) block->next->previous = block->previous;
  if (block->previous != nullptr) {
    block->previous->next = block->next;
  } else {
    lists.first[own] = block->next;
    if (block->next == nullptr) lists.filled[own / 64] &= ~(uint64_t{1} << (own % 64));
  }
}

}  // namespace dl::core
