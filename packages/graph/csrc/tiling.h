// Groups of calls that run block by block: rows of all their tensors at a time, so that what one
// call writes is still in the cache when the next one reads it.
//
// A group is made of consecutive calls with the same outer dimensions. Each index of those that are
// cut has a window of every storage that the group writes, no two windows overlap, and all calls
// stay within the window of their index: so the order of the blocks cannot matter.
#pragma once

#include <vector>

#include "cut.h"

namespace dl::graph {

// A value as the calls of a group see it.
struct Piece {
  size_t value = 0;
  // For each dimension of the group's space: the dimension of the value that is cut, or -1.
  std::vector<int32_t> dims;

  bool operator==(const Piece& other) const { return value == other.value && dims == other.dims; }
};

struct Group {
  size_t first = 0;  // calls
  size_t last = 0;
  // The dimensions that are cut: all but the last by 1, the last by `rows`.
  std::vector<int64_t> space;
  int64_t rows = 1;
  std::vector<Piece> pieces;
  std::vector<std::vector<size_t>> uses;  // by call: the pieces, in the order of each_tensor
  // By storage: the bytes that a block needs of a temporary that lives only in this group; -1: it
  // lives in the memory of the program.
  std::vector<int64_t> local;

  int64_t chunks() const { return (space.back() + rows - 1) / rows; }
  int64_t blocks() const;
  size_t calls() const { return last - first + 1; }
};

struct Tiling {
  std::vector<Group> groups;
  // By call: why it is in no group; empty for those that are.
  std::vector<const char*> reasons;

  // The group of a call, or nullptr.
  const Group* group_of(size_t call) const;
  // Returns true if a temporary has no memory of its own in the program.
  bool is_local(size_t storage) const;
};

enum class When : uint8_t {
  kFaster,  // groups that are expected to be faster than whole calls
  kAlways,  // every call that can be cut, into three blocks along its last dimension: for tests
};

// `cache` is the bytes of the cache that a thread has for itself.
Tiling make_tiling(const Entry& entry, const Concrete& sized, int64_t cache, When when);

// As this machine says, or a guess.
int64_t cache_bytes();

}  // namespace dl::graph
