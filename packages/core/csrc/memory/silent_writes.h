// Writes to tensors of which torch does not know.
#pragma once

#include <atomic>
#include <cstdint>

namespace dl::core {

// How often a tensor was written to whose version stays what it is: running statistics by batch
// norm, parameters by torch's fused optimisers, results of collectives.
inline std::atomic<uint64_t> silent_writes{0};

inline void count_silent_write() { silent_writes.fetch_add(1, std::memory_order_relaxed); }

}  // namespace dl::core
