// Snapshot of the allocator's segments and blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/block.h"

namespace dl::core {

struct BlockView {
  const void* memory;
  size_t bytes;
  size_t requested;
  BlockState state;
};

struct SegmentView {
  const void* memory;
  size_t bytes;
  int64_t stream;
  bool small;
  std::vector<BlockView> blocks;  // contiguous, by address
};

// The segments of a device, by address.
std::vector<SegmentView> segments_of(int device);

}  // namespace dl::core
