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

namespace detail {

template <class F>
struct DrawItem {
  RandomState state;
  int64_t n;
  F put;

  DL_FN void operator()(int64_t step) const {
    const Philox random(state.seed, state.offset + static_cast<uint64_t>(step));
    const int64_t first = step * 4, count = n - first < 4 ? n - first : 4;
    for (int64_t lane = 0; lane < count; ++lane) put(first + lane, random.word[lane]);
  }
};

template <class F>
struct LongDrawItem {
  RandomState state;
  int64_t n;
  F put;

  DL_FN void operator()(int64_t step) const {
    const Philox random(state.seed, state.offset + static_cast<uint64_t>(step));
    put(step * 2, long_lane(random, 0));
    if (step * 2 + 1 < n) put(step * 2 + 1, long_lane(random, 1));
  }
};

}  // namespace detail

// Calls put(i, word) for every i in [0, n). `put` is a functor without references.
template <class F>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  each(launch, (n + 3) / 4, 32, detail::DrawItem<F>{state, n, put});
}

// The same with 64 bits each.
template <class F>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  each(launch, (n + 1) / 2, 32, detail::LongDrawItem<F>{state, n, put});
}

// The 64 bits of element `i` among those of draw_long_words.
DL_FN uint64_t long_word(const RandomState& state, int64_t i) {
  return long_lane(Philox(state.seed, state.offset + static_cast<uint64_t>(i / 2)), i % 2);
}

// A number in [0, count): the upper half of the product, without a division.
DL_FN int64_t below(uint64_t word, int64_t count) {
  return static_cast<int64_t>(
      static_cast<uint64_t>((static_cast<unsigned __int128>(word) * uint64_t(count)) >> 64));
}

// In [0, 1), a multiple of 2^-53.
DL_FN double unit_double(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

DL_KERNELS_END

#endif  // DL_KERNELS_DRAWS_H_
