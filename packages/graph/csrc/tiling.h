// Groups of calls that run block by block, on some rows of all their tensors at a time: the results
// of a call are still in the cache when the next call reads them.
//
// A group consists of consecutive calls with the same outer dimensions. Each index of the cut
// dimensions has a window in every storage that the group writes. Windows do not overlap, and calls
// access only the window of their index, so the order of the blocks does not matter.
#pragma once

#include <vector>

#include "cut.h"

namespace dl::graph {

// Value as used by the calls of a group.
struct Piece {
  size_t value = 0;
  // For each dimension of the group's space: the dimension of the value that it cuts, or -1.
  std::vector<int32_t> dims;

  bool operator==(const Piece& other) const { return value == other.value && dims == other.dims; }
};

struct Group {
  size_t first = 0;  // calls
  size_t last = 0;
  // Sizes of the cut dimensions. The last one is cut into blocks of `rows`, the others of 1.
  std::vector<int64_t> space;
  int64_t rows = 1;
  std::vector<Piece> pieces;
  std::vector<std::vector<size_t>> uses;  // by call: the pieces, in the order of each_tensor
  // By storage: bytes that a block needs for a temporary that is local to this group; -1 for
  // storages in the program's memory.
  std::vector<int64_t> local;

  int64_t chunks() const { return (space.back() + rows - 1) / rows; }
  int64_t blocks() const;
  size_t calls() const { return last - first + 1; }
};

struct Tiling {
  std::vector<Group> groups;
  // By call: why it is not in a group; empty for calls in groups.
  std::vector<const char*> reasons;

  // Returns the group of a call, or nullptr.
  const Group* group_of(size_t call) const;
  // Returns true if a temporary is local to a group, without memory in the program.
  bool is_local(size_t storage) const;
};

enum class When : uint8_t {
  kFaster,  // groups that are expected to be faster than whole calls
  kAlways,  // every call that can be cut, into three blocks along its last dimension: for tests
};

// `cache` is the size in bytes of a thread's private cache.
Tiling make_tiling(const Entry& entry, const Concrete& sized, int64_t cache, When when);

// Returns the size of this machine's private cache in bytes, or a guess if it is unknown.
int64_t cache_bytes();

}  // namespace dl::graph
