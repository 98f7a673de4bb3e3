// Source: Durstenfeld, Random permutation (CACM 1964). Element i takes the i-th 64 bits of the
// stream.
#ifndef DL_KERNELS_CPU_SHUFFLE_H_
#define DL_KERNELS_CPU_SHUFFLE_H_

#include "dl_kernels/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/draws.h"

DL_KERNELS_BEGIN

// A number in [0, count): the upper half of the product, without a division.
DL_FN int64_t below(uint64_t word, int64_t count) {
  return static_cast<int64_t>(
      static_cast<uint64_t>((static_cast<unsigned __int128>(word) * uint64_t(count)) >> 64));
}

template <class T>
void shuffle(const Launch&, T* elements, int64_t n, const RandomState& state) {
  for (int64_t step = 0; 2 * step < n; ++step) {
    const Philox random(state.seed, state.offset + static_cast<uint64_t>(step));
    for (int64_t lane = 0; lane < 2 && 2 * step + lane < n; ++lane) {
      const int64_t i = 2 * step + lane, other = i + below(long_lane(random, lane), n - i);
      const T kept = elements[i];
      elements[i] = elements[other];
      elements[other] = kept;
    }
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SHUFFLE_H_
