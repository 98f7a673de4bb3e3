// GPU implementation of random/draws.h: one thread per step of the generator.
#ifndef DL_KERNELS_GPU_DRAW_LOOPS_H_
#define DL_KERNELS_GPU_DRAW_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/elements.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class F, class = void>
struct HasFastWords : std::false_type {};
template <class F>
struct HasFastWords<F, std::void_t<decltype(&F::in_fast_range)>> : std::true_type {};

// Random words of a step of the generator for its elements: lane `lane` calls f(i, word, …).
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

  // Return true if `give_fast` gives the same results for all lanes.
  template <class F>
  DL_DEVICE bool is_fast(const F& f) const {
    if constexpr (HasFastWords<F>::value) {
      bool fast = true;
      DL_UNROLL
      for (int lane = 0; lane < kLanes; ++lane) fast = fast && f.in_fast_range(random.word[lane]);
      return fast;
    } else {
      return false;
    }
  }
  template <class F, class... X>
  DL_DEVICE void give_fast(const F& f, int64_t i, int lane, X&... x) const {
    if constexpr (HasFastWords<F>::value) f.fast(i, random.word[lane], x...);
  }
};

// A step whose elements all have the same cost.
struct PlainStep {
  template <class F>
  DL_DEVICE bool is_fast(const F&) const {
    return false;
  }
  template <class F, class... X>
  DL_DEVICE void give_fast(const F&, int64_t, int, X&...) const {}
};

struct LongWordStep : PlainStep {
  static constexpr int kLanes = 2;
  Philox random;
  uint64_t seed, step;

  DL_DEVICE LongWordStep(const RandomState& state, int64_t at)
      : random(state.seed, state.offset + static_cast<uint64_t>(at)),
        seed(state.seed),
        step(state.offset + static_cast<uint64_t>(at)) {}
  template <class F, class... X>
  DL_DEVICE void give(const F& f, int64_t i, int lane, X&... x) const {
    f(i, long_lane(random, lane), WordSource{seed, step, lane}, x...);
  }
};

template <class C>
struct NormalStep : PlainStep {
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

// Limit per launch, whose steps have 32-bit indices.
inline constexpr int64_t kMostSteps = int64_t(1) << 30;

// A launch over n elements, the first of which has index `begin` in the call.
struct DrawPart {
  RandomState state;  // of the first step
  int64_t begin, n;
  uint32_t steps, whole;  // the first `whole` steps are complete and use vectors
};

// Elements that the last step lacks are computed too, as copies of its last element, unless the
// functor itself writes.
template <class Step, class F, class... Arrays>
DL_DEVICE void draw_step(const DrawPart& part, uint32_t at, const F& f,
                         PassingElements<Arrays, Step::kLanes>... elements, Arrays... arrays) {
  const bool whole = at < part.whole;
  const int64_t offset = int64_t(at) * Step::kLanes, first = part.begin + offset;
  if (whole) {
    (elements.load(arrays, 0, at), ...);
  } else {
    (elements.load_until(arrays, offset, part.n), ...);
  }
  const Step step(part.state, at);
  if (step.is_fast(f) & whole) {
    DL_UNROLL
    for (int lane = 0; lane < Step::kLanes; ++lane)
      step.give_fast(f, first + lane, lane, elements.values[lane]...);
    (elements.store(arrays, 0, at), ...);
    return;
  }
  DL_UNROLL
  for (int lane = 0; lane < Step::kLanes; ++lane) {
    const bool outside = !whole && offset + lane >= part.n;
    if (sizeof...(Arrays) == 0 && outside) break;
    step.give(f, outside ? part.begin + part.n - 1 : first + lane, lane, elements.values[lane]...);
  }
  if (whole) {
    (elements.store(arrays, 0, at), ...);
  } else {
    (elements.store_until(arrays, offset, part.n), ...);
  }
}

template <class Step, class F, class... Arrays>
DL_KERNEL void draw_kernel(DrawPart part, F f, Arrays... arrays) {
  const uint32_t stride = static_cast<uint32_t>(block_count()) * kThreads;
  DL_NO_UNROLL
  for (uint32_t at =
           static_cast<uint32_t>(block_index()) * kThreads + static_cast<uint32_t>(thread_index());
       at < part.steps; at += stride)
    draw_step<Step, F, Arrays...>(part, at, f, PassingElements<Arrays, Step::kLanes>{}...,
                                  arrays...);
}

template <class Array>
Array advanced(Array array, int64_t elements) {
  array.array += elements;
  return array;
}

template <class Step, class F, class... Arrays>
void draw(const Launch& launch, const RandomState& state, int64_t n, const F& f,
          const Arrays&... arrays) {
  constexpr int64_t kMost = kMostSteps * Step::kLanes;
  for (int64_t begin = 0; begin < n; begin += kMost) {
    const int64_t count = n - begin < kMost ? n - begin : kMost;
    const int64_t steps = (count + Step::kLanes - 1) / Step::kLanes;
    const int64_t whole = have_vectors(Step::kLanes, begin, arrays...) ? count / Step::kLanes : 0;
    const uint64_t before = static_cast<uint64_t>(begin / Step::kLanes);
    const DrawPart part{{state.seed, state.offset + before},
                        begin,
                        count,
                        static_cast<uint32_t>(steps),
                        static_cast<uint32_t>(whole)};
    run_threads(launch.stream(), blocks_for(steps), draw_kernel<Step, F, Arrays...>, part, f,
                advanced(arrays, begin)...);
  }
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
