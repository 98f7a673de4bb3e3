// Pieces of a device's memory: segments, which the vendor gave, and the blocks that they are cut
// into.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace dl::core {

struct DeviceState;
class FreeMemory;
struct Block;

// Memory of the vendor. Its blocks follow one another without a gap.
struct Segment {
  void* memory;
  size_t bytes;
  bool small;  // for blocks up to kSmallBlock
  Block* first;
  FreeMemory* pool;  // of the stream that it was taken for
};

enum class BlockState : uint8_t {
  used,     // by a tensor
  waiting,  // freed, while another stream may still use it
  kept,     // free, as it was used
  free,     // free, and one with what was free beside it
};

struct Block {
  char* memory;
  size_t bytes;
  Segment* segment;
  int64_t stream;  // the one that was current at allocation
  int16_t device;
  int16_t size_class = 0;  // of what it was cut for; the block itself may be longer
  BlockState state = BlockState::free;
  size_t requested = 0;  // of the current owner
  // Its neighbours in the segment.
  Block* before = nullptr;
  Block* after = nullptr;
  // In a list of free blocks.
  Block* previous = nullptr;
  Block* next = nullptr;
  c10::SmallVector<c10::Stream, 1> other_streams = {};
};

}  // namespace dl::core
