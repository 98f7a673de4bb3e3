// Writes to tensors that torch does not track.
#pragma once

#include <atomic>
#include <cstdint>

namespace dl::core {

// Number of writes that do not bump a tensor's version: to running statistics of batch norm, to
// parameters in torch's fused optimizers, to results of collectives.
inline std::atomic<uint64_t> silent_writes{0};

inline void count_silent_write() { silent_writes.fetch_add(1, std::memory_order_relaxed); }

}  // namespace dl::core
