// CPU implementation of random/draws.h: the random words of a few steps at a time. Generating the
// words is a loop that vectorizes; only their use depends on the operator.
#ifndef DL_KERNELS_CPU_DRAW_LOOPS_H_
#define DL_KERNELS_CPU_DRAW_LOOPS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/elements.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kStepsAtOnce = 16;

// Call use(step, words, count) for pieces of [0, steps), with the words of `count` steps each.
template <class F>
void draw_steps(const Launch& launch, const RandomState& state, int64_t steps, const F& use) {
  launch.parallel_for(steps, grain_for(32), [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kStepsAtOnce) {
      alignas(64) Philox words[kStepsAtOnce];
      const uint64_t counter = state.offset + static_cast<uint64_t>(first);
      for (int64_t k = 0; k < kStepsAtOnce; ++k)
        words[k] = Philox(state.seed, counter + static_cast<uint64_t>(k));
      use(first, words, end - first < kStepsAtOnce ? end - first : kStepsAtOnce);
    }
  });
}

}  // namespace detail

template <class F>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  detail::draw_steps(
      launch, state, word_steps(n), [&](int64_t first, const Philox* words, int64_t count) {
        const int64_t left = n - 4 * first, elements = left < 4 * count ? left : 4 * count;
        for (int64_t k = 0; k < elements; ++k) {
          const uint64_t step = state.offset + static_cast<uint64_t>(first + k / 4);
          put(4 * first + k, words[k / 4].word[k % 4], WordSource{state.seed, step, k % 4});
        }
      });
}

template <class F>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  detail::draw_steps(
      launch, state, long_word_steps(n), [&](int64_t first, const Philox* words, int64_t count) {
        const int64_t left = n - 2 * first, elements = left < 2 * count ? left : 2 * count;
        for (int64_t k = 0; k < elements; ++k) {
          const uint64_t step = state.offset + static_cast<uint64_t>(first + k / 2);
          put(2 * first + k, long_lane(words[k / 2], k % 2), WordSource{state.seed, step, k % 2});
        }
      });
}

template <class C, class F>
void draw_normals(const Launch& launch, const RandomState& state, int64_t n, const F& put) {
  constexpr int64_t kLanes = kNormalsPerStep<C>;
  detail::draw_steps(launch, state, (n + kLanes - 1) / kLanes,
                     [&](int64_t first, const Philox* words, int64_t count) {
                       alignas(64) C numbers[detail::kStepsAtOnce * kLanes];
                       DL_VECTOR_LOOP
                       for (int64_t k = 0; k < detail::kStepsAtOnce; ++k)
                         normals_of(words[k], numbers + k * kLanes);
                       const int64_t left = n - kLanes * first;
                       const int64_t elements = left < kLanes * count ? left : kLanes * count;
                       for (int64_t k = 0; k < elements; ++k) put(kLanes * first + k, numbers[k]);
                     });
}

namespace detail {

// Runs a function over gathered arrays and passes it the index of each element.
template <class F, class... Arrays>
auto passing(const F& f, const Arrays&... arrays) {
  return [=](int64_t i, const auto&... drawn) {
    pass<Arrays...>([&](auto&... x) { f(i, drawn..., x...); }, PassingElement<Arrays>(arrays, i)...,
                    i, arrays...);
  };
}

}  // namespace detail

template <class F, class Array, class... Arrays>
void draw_words(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                const Array& array, const Arrays&... arrays) {
  draw_words(launch, state, n, detail::passing(f, array, arrays...));
}

template <class F, class Array, class... Arrays>
void draw_long_words(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                     const Array& array, const Arrays&... arrays) {
  draw_long_words(launch, state, n, detail::passing(f, array, arrays...));
}

template <class C, class F, class Array, class... Arrays>
void draw_normals(const Launch& launch, const RandomState& state, int64_t n, const F& f,
                  const Array& array, const Arrays&... arrays) {
  draw_normals<C>(launch, state, n, detail::passing(f, array, arrays...));
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_DRAW_LOOPS_H_
