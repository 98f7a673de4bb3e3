// Blocks that streams other than their own may still use when they are freed.
#pragma once

#include "memory/block.h"

namespace dl::core {

// Called for a block that was freed; it is free once the streams noted in it have done what they
// were given so far. The lock is not held.
void wait_for_streams(Block* block) noexcept;

// Frees what has been waited for. Waits for nothing.
void collect_waiting(int device);

}  // namespace dl::core
