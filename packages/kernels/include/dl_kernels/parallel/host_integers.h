// Copies of integers in host memory - lengths, sizes - to the memory that kernels read.
#ifndef DL_KERNELS_PARALLEL_HOST_INTEGERS_H_
#define DL_KERNELS_PARALLEL_HOST_INTEGERS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

namespace detail {

// The integers are passed by value as kernel arguments.
struct CopyIntegers {
  static constexpr int64_t kCount = 64;
  int64_t* to;
  int64_t numbers[kCount];
  DL_FN void operator()(int64_t i) const { to[i] = numbers[i]; }
};

}  // namespace detail

inline void copy_host_integers(const Launch& launch, int64_t* to, const int64_t* from,
                               int64_t count) {
  for (int64_t first = 0; first < count; first += detail::CopyIntegers::kCount) {
    detail::CopyIntegers put{to + first, {}};
    const int64_t left = count - first;
    const int64_t now = left < detail::CopyIntegers::kCount ? left : detail::CopyIntegers::kCount;
    for (int64_t i = 0; i < now; ++i) put.numbers[i] = from[first + i];
    each(launch, now, 1, put);
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_PARALLEL_HOST_INTEGERS_H_
