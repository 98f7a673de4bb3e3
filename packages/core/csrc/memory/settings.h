// What PYTORCH_ALLOC_CONF says, as torch reads it (c10/core/AllocatorConfig.h).
#pragma once

#include <cstddef>

#include "memory/free_memory.h"
#include "runtime/device.h"

namespace dl::core {

// Where blocks begin and end: as wide as a vector register, or as what devices read at once.
inline constexpr size_t kHostUnit = 64;
inline constexpr size_t kDeviceUnit = 512;

inline size_t block_unit(const Device& device) {
  return device.host_accessible ? kHostUnit : kDeviceUnit;
}

// Whether sizes are rounded to parts of powers of two. As of the last read_settings().
bool rounds_to_powers() noexcept;
// Torch gives no notice of a change: what is found free needs no setting, and what is not reads
// them all.
void read_settings();

// Bytes of the block for `bytes`.
size_t rounded(size_t bytes, const Device& device);
SplitLimits split_limits(const Device& device);
// Bytes to ask the vendor for when a block of `bytes` is wanted: several times as many for short
// ones, but no large part of the device's memory, of `total` bytes (0: unknown).
size_t segment_bytes(size_t bytes, size_t total);
// The part of what the process may take from which on unused segments are given back; 0: never.
double garbage_collection_threshold();

}  // namespace dl::core
