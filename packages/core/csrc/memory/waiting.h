// Freed blocks that other streams may still use.
#pragma once

#include "memory/block.h"

namespace dl::core {

// Called for a freed block; it becomes free after the streams recorded in it have completed their
// current work. The caller must not hold the lock.
void wait_for_streams(Block* block) noexcept;

// Frees the blocks whose streams have completed that work. Does not block.
void collect_waiting(int device);

}  // namespace dl::core
