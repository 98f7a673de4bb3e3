// Units of device memory: segments, which the vendor allocates, and the blocks they are split into.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace dl::core {

struct DeviceState;
class FreeMemory;
struct Block;

// Memory allocated by the vendor. Its blocks are contiguous.
struct Segment {
  void* memory;
  size_t bytes;
  bool small;  // contains blocks up to kSmallBlock
  Block* first;
  FreeMemory* pool;  // of the stream that requested it
};

enum class BlockState : uint8_t {
  used,     // owned by a tensor
  waiting,  // freed, but another stream may still use it
  cached,   // free, with its size unchanged
  free,     // free, and merged with its free neighbors
};

struct Block {
  char* memory;
  size_t bytes;
  Segment* segment;
  int64_t stream;  // current stream at the allocation
  int16_t device;
  int16_t size_class = 0;  // of the request; the block itself may be longer
  BlockState state = BlockState::free;
  size_t requested = 0;  // bytes, by the current owner
  // Neighbors in the segment.
  Block* before = nullptr;
  Block* after = nullptr;
  // Links in a list of free blocks.
  Block* previous = nullptr;
  Block* next = nullptr;
  c10::SmallVector<c10::Stream, 1> other_streams = {};
};

}  // namespace dl::core
