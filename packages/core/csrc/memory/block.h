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
  FreeMemory* pool;  // free memory of the stream that requested the segment
};

enum class BlockState : uint8_t {
  used,     // owned by a tensor
  waiting,  // freed, but another stream may still use it
  cached,   // free, not split or merged since its last use
  free,     // free, and merged with its free neighbors
};

struct Block {
  char* memory;
  size_t bytes;
  Segment* segment;
  int64_t stream;  // stream that was current at the allocation
  int16_t device;
  int16_t size_class = 0;  // of the request; the block itself may be larger
  BlockState state = BlockState::free;
  size_t requested = 0;  // bytes that the current owner requested
  // Neighbors of the block in its segment.
  Block* before = nullptr;
  Block* after = nullptr;
  // Links in a list of free blocks.
  Block* previous = nullptr;
  Block* next = nullptr;
  c10::SmallVector<c10::Stream, 1> other_streams = {};
};

}  // namespace dl::core
