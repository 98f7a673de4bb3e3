// Sizes of blocks, in classes: lists of free blocks are kept by class.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dl::core {

inline constexpr size_t kClassUnit = 64;  // bytes; every block is a multiple
inline constexpr int kStepsPerDoubling = 8;
inline constexpr int kBlockClasses = 320;  // up to 2^47 bytes

inline size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Class n < 8 holds n units; above, eight classes lie between two powers of two, and a class holds
// the sizes from its own up to the next one's.
inline int block_class(size_t bytes) {
  const size_t units = bytes / kClassUnit;
  if (units < kStepsPerDoubling) return static_cast<int>(units);
  const int log2 = 63 - __builtin_clzll(units);
  const int step = static_cast<int>(units >> (log2 - 3)) & (kStepsPerDoubling - 1);
  return (log2 - 2) * kStepsPerDoubling + step;
}

}  // namespace dl::core
