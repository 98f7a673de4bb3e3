// CPU: elements are swapped in memory.
#ifndef DL_KERNELS_CPU_SHUFFLE_H_
#define DL_KERNELS_CPU_SHUFFLE_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/random/draws.h"

DL_KERNELS_BEGIN

template <class T>
void permute(const Launch& launch, T* to, int64_t n, const RandomState& state) {
  launch.parallel_for(n, kParallelGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = cast<T>(i);
  });
  for (int64_t step = 0; 2 * step < n; ++step) {
    const uint64_t counter = state.offset + static_cast<uint64_t>(step);
    const Philox random(state.seed, counter);
    for (int64_t lane = 0; lane < 2 && 2 * step + lane < n; ++lane) {
      const int64_t i = 2 * step + lane;
      const WordSource source{state.seed, counter, lane};
      const int64_t other = i + static_cast<int64_t>(draw_below(
                                    long_lane(random, lane), static_cast<uint64_t>(n - i), source));
      const T kept = to[i];
      to[i] = to[other];
      to[other] = kept;
    }
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SHUFFLE_H_
