// Settings of PYTORCH_ALLOC_CONF, as torch parses them (c10/core/AllocatorConfig.h).
#pragma once

#include <cstddef>

#include "memory/free_memory.h"
#include "runtime/device.h"

namespace dl::core {

// Alignment of blocks: the width of a vector register (host) or of a memory transaction (device).
inline constexpr size_t kHostUnit = 64;
inline constexpr size_t kDeviceUnit = 512;

inline size_t block_unit(const Device& device) {
  return device.host_accessible ? kHostUnit : kDeviceUnit;
}

// Returns true if sizes are rounded to fractions of powers of two, as of the last read_settings().
bool rounds_to_powers() noexcept;
// torch does not notify of changes: settings are read again only when no free block fits.
void read_settings();

// Size of the block for an allocation of `bytes`.
size_t round_size(size_t bytes, const Device& device);
SplitLimits split_limits(const Device& device);
// Size of the segment to request from the vendor for a block of `bytes`. Small blocks share a
// larger segment, of at most a small fraction of the device's memory of `total` bytes (0: unknown).
size_t segment_bytes(size_t bytes, size_t total);
// Fraction of this process's memory limit above which unused segments are released; 0: never.
double garbage_collection_threshold();

}  // namespace dl::core
