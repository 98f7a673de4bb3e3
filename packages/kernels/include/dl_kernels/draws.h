// Loops over the words of a random stream; philox.h says which element gets which part of it.
#ifndef DL_KERNELS_DRAWS_H_
#define DL_KERNELS_DRAWS_H_

#include "dl_kernels/launch.h"
#include "dl_kernels/philox.h"

DL_KERNELS_BEGIN

// The two numbers of 64 bits in a step.
DL_FN uint64_t long_lane(const Philox& random, int64_t lane) {
  return random.word[2 * lane] | static_cast<uint64_t>(random.word[2 * lane + 1]) << 32;
}

// Calls put(i, word) for every i in [0, n).
template <class F>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  launch.parallel_for((n + 3) / 4, kParallelGrain / 32, [&](int64_t begin, int64_t end) {
    for (int64_t step = begin; step < end; ++step) {
      const Philox random(state.seed, state.offset + static_cast<uint64_t>(step));
      const int64_t count = n - step * 4 < 4 ? n - step * 4 : 4;
      for (int64_t lane = 0; lane < count; ++lane) put(step * 4 + lane, random.word[lane]);
    }
  });
}

// The same with 64 bits each.
template <class F>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  launch.parallel_for((n + 1) / 2, kParallelGrain / 32, [&](int64_t begin, int64_t end) {
    for (int64_t step = begin; step < end; ++step) {
      const Philox random(state.seed, state.offset + static_cast<uint64_t>(step));
      const int64_t count = n - step * 2 < 2 ? n - step * 2 : 2;
      for (int64_t lane = 0; lane < count; ++lane) {
        put(step * 2 + lane, long_lane(random, lane));
      }
    }
  });
}

// The 64 bits of element `i` among those of draw_long_words.
DL_FN uint64_t long_word(const RandomState& state, int64_t i) {
  return long_lane(Philox(state.seed, state.offset + static_cast<uint64_t>(i / 2)), i % 2);
}

// In [0, 1), a multiple of 2^-53.
DL_FN double unit_double(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

DL_KERNELS_END

#endif  // DL_KERNELS_DRAWS_H_
