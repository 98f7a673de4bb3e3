// GPU: in vectors where all arrays begin at a multiple of the widest access; behind
// parallel/elements.h.
#ifndef DL_KERNELS_GPU_ELEMENTS_H_
#define DL_KERNELS_GPU_ELEMENTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/threads.h"
#include "dl_kernels/gpu/vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

// Elements on their way between an array and a function.
template <class Array, int kWidth>
struct PassingElements {
  using T = typename Array::Element;
  compute_t<T> values[kWidth];

  DL_DEVICE PassingElements(const Array& from, int64_t first, uint32_t at) {
    if constexpr (!Array::kWritten) {
      Vector<T, kWidth> vector;
      vector.load(from.array + first, at);
      vector.get(values);
    }
  }
  DL_DEVICE void leave(const Array& to, int64_t first, uint32_t at) const {
    if constexpr (Array::kWritten) {
      Vector<T, kWidth> vector;
      vector.set(values);
      vector.store(to.array + first, at);
    }
  }
};

template <int kWidth, class F, class... Arrays>
DL_DEVICE void pass(const F& f, PassingElements<Arrays, kWidth>... elements, int64_t first,
                    uint32_t at, Arrays... arrays) {
  DL_UNROLL
  for (int i = 0; i < kWidth; ++i) f(elements.values[i]...);
  (elements.leave(arrays, first, at), ...);
}

template <int kWidth, class F, class... Arrays>
DL_DEVICE void pass_range(const F& f, uint32_t begin, uint32_t end, int64_t first,
                          Arrays... arrays) {
  DL_ONE_BY_ONE
  for (uint32_t at = begin + static_cast<uint32_t>(thread_index()); at < end; at += kThreads) {
    pass<kWidth, F, Arrays...>(f, PassingElements<Arrays, kWidth>(arrays, first, at)..., first, at,
                               arrays...);
  }
}

}  // namespace gpu

// n is below 2^31.
template <class B, class F, class... Arrays>
DL_DEVICE void map_elements(const B&, int64_t n, const F& f, int64_t first, Arrays... arrays) {
  constexpr int kLargest = [] {
    int largest = 1;
    for (const int size : {static_cast<int>(sizeof(typename Arrays::Element))...})
      largest = size > largest ? size : largest;
    return largest;
  }();
  constexpr int kWidth = gpu::kWidestAccess / kLargest;
  const uintptr_t places =
      (reinterpret_cast<uintptr_t>(arrays.array + first) | ... | uintptr_t(0));
  const uint32_t count = static_cast<uint32_t>(n);
  const uint32_t vectors = places % gpu::kWidestAccess == 0 ? count / kWidth : 0;
  gpu::pass_range<kWidth>(f, 0, vectors, first, arrays...);
  gpu::pass_range<1>(f, vectors * kWidth, count, first, arrays...);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ELEMENTS_H_
