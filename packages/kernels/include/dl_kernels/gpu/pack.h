// GPU: vectorized loads and stores of several elements, and their conversion.
#ifndef DL_KERNELS_GPU_PACK_H_
#define DL_KERNELS_GPU_PACK_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int kWidestAccess = 16;  // bytes

// `kCount` elements in memory, aligned to kAlignment.
template <class T, int kCount>
struct Pack {
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(T));
  static constexpr int kAlignment = kBytes < kWidestAccess ? kBytes : kWidestAccess;
  static_assert(kBytes % kAlignment == 0, "a pack is a number of accesses");
  // Elements of eight bytes are not split: built from two words, each would be copied into a pair
  // of registers for computations.
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<kAlignment % 4 == 0, uint32_t, bits_t<T>>>;
  static constexpr int kWords = kAlignment / static_cast<int>(sizeof(Word));

  struct alignas(kAlignment) Access {
    Word words[kWords];
  };
  Access accesses[kBytes / kAlignment];

  // Load pack `at` of an array. A 64-bit product of two 32-bit numbers is one instruction.
  DL_FN void load(const T* array, uint32_t at) {
    const Access* from = reinterpret_cast<const Access*>(reinterpret_cast<const char*>(array) +
                                                         uint64_t(at) * kBytes);
    DL_UNROLL
    for (int i = 0; i < kBytes / kAlignment; ++i) accesses[i] = from[i];
  }
  DL_FN void store(T* array, uint32_t at) const {
    Access* to = reinterpret_cast<Access*>(reinterpret_cast<char*>(array) + uint64_t(at) * kBytes);
    DL_UNROLL
    for (int i = 0; i < kBytes / kAlignment; ++i) to[i] = accesses[i];
  }
  DL_FN void fill(T value) {
    T copies[kCount];
    DL_UNROLL
    for (int i = 0; i < kCount; ++i) copies[i] = value;
    __builtin_memcpy(accesses, copies, sizeof(accesses));
  }

  DL_FN void get(compute_t<T> (&values)[kCount]) const {
    T elements[kCount];
    __builtin_memcpy(elements, accesses, sizeof(accesses));
    DL_UNROLL
    for (int i = 0; i < kCount; ++i) values[i] = cast<compute_t<T>>(elements[i]);
  }
  DL_FN void set(const compute_t<T> (&values)[kCount]) {
    if constexpr (kIsHalf<T> && kCount % 2 == 0) {
      uint32_t pairs[kCount / 2];
      DL_UNROLL
      for (int i = 0; i < kCount / 2; ++i) pairs[i] = T::pair(values[2 * i], values[2 * i + 1]);
      __builtin_memcpy(accesses, pairs, sizeof(accesses));
    } else {
      T elements[kCount];
      DL_UNROLL
      for (int i = 0; i < kCount; ++i) elements[i] = cast<T>(values[i]);
      __builtin_memcpy(accesses, elements, sizeof(accesses));
    }
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PACK_H_
