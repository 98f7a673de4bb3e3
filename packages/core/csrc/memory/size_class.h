// Size classes of allocations, so that freed blocks fit later requests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dl::core {

inline constexpr size_t kMinBlock = 64;
inline constexpr int kClassesPerDoubling = 8;
inline constexpr int kSizeClasses = (64 - 6) * kClassesPerDoubling;

// Class 0 is 64 bytes, class 8n is 64 << n; seven equally spaced classes are between two powers.
inline int size_class(size_t bytes) {
  if (bytes <= kMinBlock) return 0;
  const int log2 = 63 - __builtin_clzll(bytes - 1);  // bytes-1 in [2^log2, 2^(log2+1))
  const int shift = log2 - 3;
  const int step = static_cast<int>(((bytes - 1) >> shift) & 7) + 1;
  return (log2 - 6) * kClassesPerDoubling + step;
}

inline size_t class_bytes(int index) {
  const int log2 = index / kClassesPerDoubling + 6;
  const size_t step = index % kClassesPerDoubling;
  return (size_t{1} << log2) + (step << (log2 - 3));
}

}  // namespace dl::core
