// Thread utilities built on the functions of any GPU's machine header.
#ifndef DL_KERNELS_GPU_THREADS_H_
#define DL_KERNELS_GPU_THREADS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int kLeastWarp = 32;  // the smallest warp size of any GPU

// Collectives below a condition are executed anyway, with no elements: PoCL 6 mixes up values of
// threads at some barriers below conditions, although all threads of a block agree on them.
#if DL_KERNELS_NO_SHUFFLES
inline constexpr bool kAlwaysCollective = true;
#else
inline constexpr bool kAlwaysCollective = false;
#endif

#if !DL_KERNELS_NO_SHUFFLES
// Return the value of the thread whose index in the warp differs by the bits of `mask` (butterfly
// shuffle).
template <class T>
DL_DEVICE T shuffle_xor(const T& value, int mask) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  uint32_t words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (int i = 0; i < kWords; ++i) words[i] = shuffle_word(words[i], mask);
  T other;
  __builtin_memcpy(&other, words, sizeof(T));
  return other;
}
#endif

// Return the number of blocks for `count` items, which threads process in a grid-stride loop.
inline int64_t blocks_for(int64_t count) {
  constexpr int64_t kMost = 65536;
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  return blocks < kMost ? blocks : kMost;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_THREADS_H_
