// GPU: a thread for each step, behind random/draws.h.
#ifndef DL_KERNELS_GPU_DRAW_LOOPS_H_
#define DL_KERNELS_GPU_DRAW_LOOPS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/elements.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

namespace gpu {

// What a step of the stream gives to its elements: lane `lane` calls f(i, what, …).
struct WordStep {
  static constexpr int kLanes = 4;
  Philox random;
  uint64_t seed, step;

  DL_DEVICE WordStep(const RandomState& state, int64_t at)
      : random(state.seed, state.offset + static_cast<uint64_t>(at)),
        seed(state.seed),
        step(state.offset + static_cast<uint64_t>(at)) {}
  template <class F, class... X>
  DL_DEVICE void give(const F& f, int64_t i, int lane, X&... x) const {
    f(i, random.word[lane], WordSource{seed, step, lane}, x...);
  }
};

struct LongWordStep : WordStep {
  static constexpr int kLanes = 2;
  using WordStep::WordStep;
  template <class F, class... X>
  DL_DEVICE void give(const F& f, int64_t i, int lane, X&... x) const {
    f(i, long_lane(random, lane), WordSource{seed, step, lane}, x...);
  }
};

template <class C>
struct NormalStep {
  static constexpr int kLanes = static_cast<int>(kNormalsPerStep<C>);
  C numbers[kLanes];

  DL_DEVICE NormalStep(const RandomState& state, int64_t at) {
    normals_of(Philox(state.seed, state.offset + static_cast<uint64_t>(at)), numbers);
  }
  template <class F, class... X>
  DL_DEVICE void give(const F& f, int64_t i, int lane, X&... x) const {
    f(i, numbers[lane], x...);
  }
};

// Elements of the last step that are not there are worked out too, as the last one that is, unless
// the function itself writes.
template <class Step, class F, class... Arrays>
DL_DEVICE void draw_step(const RandomState& state, int64_t at, int64_t n, bool vectors, const F& f,
                         PassingElements<Arrays, Step::kLanes>... elements, Arrays... arrays) {
  const int64_t first = at * Step::kLanes;
  const bool whole = vectors && first + Step::kLanes <= n;
  if (whole) {
    (elements.load(arrays, first, 0), ...);
  } else {
    (elements.load_until(arrays, first, n), ...);
  }
  const Step step(state, at);
  DL_UNROLL
  for (int lane = 0; lane < Step::kLanes; ++lane) {
    const bool last = first + lane >= n;
    if (sizeof...(Arrays) == 0 && last) break;
    step.give(f, last ? n - 1 : first + lane, lane, elements.values[lane]...);
  }
  if (whole) {
    (elements.store(arrays, first, 0), ...);
  } else {
    (elements.store_until(arrays, first, n), ...);
  }
}

template <class Step, class F, class... Arrays>
DL_KERNEL void draw_kernel(RandomState state, int64_t n, bool vectors, F f, Arrays... arrays) {
  const int64_t steps = (n + Step::kLanes - 1) / Step::kLanes, stride = block_count() * kThreads;
  DL_ONE_BY_ONE
  for (int64_t at = block_index() * kThreads + thread_index(); at < steps; at += stride)
    draw_step<Step, F, Arrays...>(state, at, n, vectors, f,
                                  PassingElements<Arrays, Step::kLanes>{}..., arrays...);
}

template <class Step, class F, class... Arrays>
void draw(const Launch& launch, const RandomState& state, int64_t n, const F& f,
          const Arrays&... arrays) {
  if (n == 0) return;
  run_threads(launch.stream(), blocks_for((n + Step::kLanes - 1) / Step::kLanes),
              draw_kernel<Step, F, Arrays...>, state, n, have_vectors(Step::kLanes, 0, arrays...),
              f, arrays...);
}

}  // namespace gpu

template <class F, class... Arrays>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                const Arrays&... arrays) {
  gpu::draw<gpu::WordStep>(launch, state, n, f, arrays...);
}

template <class F, class... Arrays>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                     const Arrays&... arrays) {
  gpu::draw<gpu::LongWordStep>(launch, state, n, f, arrays...);
}

template <class C, class F, class... Arrays>
void draw_normals(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                  const Arrays&... arrays) {
  gpu::draw<gpu::NormalStep<C>>(launch, state, n, f, arrays...);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DRAW_LOOPS_H_
