// Writes to tensors of which torch does not know.
#pragma once

#include <atomic>
#include <cstdint>

namespace dl::core {

// How often an operator has written to what its schema calls an argument that is only read, so that
// the tensor's version stays: batch norm, to its running statistics.
inline std::atomic<uint64_t> silent_writes{0};

inline void count_silent_write() { silent_writes.fetch_add(1, std::memory_order_relaxed); }

}  // namespace dl::core
