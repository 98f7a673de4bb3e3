// GPU: a thread for each step, behind random/draws.h.
#ifndef DL_KERNELS_GPU_DRAW_LOOPS_H_
#define DL_KERNELS_GPU_DRAW_LOOPS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class F>
struct DrawItem {
  RandomState state;
  int64_t n;
  F put;

  DL_FN void operator()(int64_t item) const {
    const uint64_t step = state.offset + static_cast<uint64_t>(item);
    const Philox random(state.seed, step);
    const int64_t first = item * 4, count = n - first < 4 ? n - first : 4;
    for (int64_t lane = 0; lane < count; ++lane)
      put(first + lane, random.word[lane], WordSource{state.seed, step, lane});
  }
};

template <class F>
struct LongDrawItem {
  RandomState state;
  int64_t n;
  F put;

  DL_FN void operator()(int64_t item) const {
    const uint64_t step = state.offset + static_cast<uint64_t>(item);
    const Philox random(state.seed, step);
    const int64_t first = item * 2, count = n - first < 2 ? n - first : 2;
    for (int64_t lane = 0; lane < count; ++lane)
      put(first + lane, long_lane(random, lane), WordSource{state.seed, step, lane});
  }
};

template <class C, class F>
struct NormalItem {
  static constexpr int64_t kLanes = kNormalsPerStep<C>;
  RandomState state;
  int64_t n;
  F put;

  DL_FN void operator()(int64_t item) const {
    C numbers[kLanes];
    normals_of(Philox(state.seed, state.offset + static_cast<uint64_t>(item)), numbers);
    const int64_t first = item * kLanes, count = n - first < kLanes ? n - first : kLanes;
    for (int64_t lane = 0; lane < count; ++lane) put(first + lane, numbers[lane]);
  }
};

}  // namespace gpu

template <class F>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  each(launch, word_steps(n), 32, gpu::DrawItem<F>{state, n, put});
}

template <class F>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  each(launch, long_word_steps(n), 32, gpu::LongDrawItem<F>{state, n, put});
}

template <class C, class F>
void draw_normals(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  using Item = gpu::NormalItem<C, F>;
  each(launch, (n + Item::kLanes - 1) / Item::kLanes, 128, Item{state, n, put});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DRAW_LOOPS_H_
