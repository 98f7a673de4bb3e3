#pragma once

#include "state.h"

namespace sim {

/** Return the live device or pinned memory that contains all the bytes, or null. */
Region* region_of(uint64_t address, size_t bytes);

enum class Direction { kToDevice, kToHost, kInside, kAny };

/** Copy in a stream. Waits if `wait` is set or the host memory is not pinned. */
CUresult copy(uint64_t to, uint64_t from, size_t bytes, Direction direction, CUstream handle,
              bool wait);

/** Set `count` elements of 1, 2 or 4 bytes. */
CUresult fill(uint64_t to, uint32_t value, unsigned width, size_t count, CUstream handle,
              bool wait);

}  // namespace sim
