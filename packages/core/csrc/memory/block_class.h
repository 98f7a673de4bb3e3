// Size classes of blocks: free lists are per class.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dl::core {

inline constexpr size_t kClassUnit = 64;  // bytes; divides the size of every block
inline constexpr int kStepsPerDoubling = 8;
inline constexpr int kBlockClasses = 320;  // up to 2^47 bytes

inline size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Class n < 8 holds blocks of n units. Above, there are eight classes per power of two, and each
// holds the sizes from its own size up to the size of the next class.
inline int block_class(size_t bytes) {
  const size_t units = bytes / kClassUnit;
  if (units < kStepsPerDoubling) return static_cast<int>(units);
  const int log2 = 63 - __builtin_clzll(units);
  const int step = static_cast<int>(units >> (log2 - 3)) & (kStepsPerDoubling - 1);
  return (log2 - 2) * kStepsPerDoubling + step;
}

}  // namespace dl::core
