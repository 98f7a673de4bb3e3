// Between strided memory and small dense buffers.
#ifndef DL_KERNELS_CPU_GATHER_H_
#define DL_KERNELS_CPU_GATHER_H_

#include <cstdint>

#include "dl_kernels/config.h"

DL_KERNELS_BEGIN

namespace detail {

// Strided operands pass through buffers of this many elements, so that every functor needs one loop only.
inline constexpr int64_t kChunk = 256;

template <class T>
__attribute__((noinline)) void gather(T* to, const T* from, int64_t step, int64_t n) {
  if (step == 0) {
    const T value = *from;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

template <class T>
__attribute__((noinline)) void scatter(T* to, int64_t step, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i * step] = from[i];
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GATHER_H_
