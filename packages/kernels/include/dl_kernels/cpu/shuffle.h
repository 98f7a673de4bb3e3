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
  for (int64_t first = 0; 2 * first < n; first += detail::kStepsAtOnce) {
    alignas(64) Philox words[detail::kStepsAtOnce];
    const uint64_t counter = state.offset + static_cast<uint64_t>(first);
    for (int64_t k = 0; k < detail::kStepsAtOnce; ++k)
      words[k] = Philox(state.seed, counter + static_cast<uint64_t>(k));
    const int64_t begin = 2 * first, left = n - begin;
    const int64_t count = left < 2 * detail::kStepsAtOnce ? left : 2 * detail::kStepsAtOnce;
    // All positions are drawn before the swaps, so that reads of distant elements overlap.
    int64_t others[2 * detail::kStepsAtOnce];
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = begin + k, lane = k % 2;
      const WordSource source{state.seed, counter + static_cast<uint64_t>(k / 2), lane};
      others[k] = i + static_cast<int64_t>(draw_below(long_lane(words[k / 2], lane),
                                                      static_cast<uint64_t>(n - i), source));
      __builtin_prefetch(to + others[k], 1);
    }
    for (int64_t k = 0; k < count; ++k) {
      const T kept = to[begin + k];
      to[begin + k] = to[others[k]];
      to[others[k]] = kept;
    }
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SHUFFLE_H_
