// GPU implementation of parallel/elements.h: vectorized if all arrays allow the widest access.
#ifndef DL_KERNELS_GPU_ELEMENTS_H_
#define DL_KERNELS_GPU_ELEMENTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/pack.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

namespace gpu {

// Elements between an array and a function: vector `at`, counted from element `first`.
template <class Array, int kWidth>
struct PassingElements {
  using T = typename Array::Element;
  compute_t<T> values[kWidth];

  DL_DEVICE void load(const Array& from, int64_t first, uint32_t at) {
    if constexpr (!Array::kWritten) {
      Pack<T, kWidth> vector;
      vector.load(from.array + first, at);
      vector.get(values);
    }
  }
  DL_DEVICE void store(const Array& to, int64_t first, uint32_t at) const {
    if constexpr (Array::kWritten) {
      Pack<T, kWidth> vector;
      vector.set(values);
      vector.store(to.array + first, at);
    }
  }
  // Load the elements before `end`, at any alignment.
  DL_DEVICE void load_until(const Array& from, int64_t first, int64_t end) {
    if constexpr (!Array::kWritten) {
      DL_UNROLL
      for (int i = 0; i < kWidth; ++i)
        values[i] = first + i < end ? cast<compute_t<T>>(from.array[first + i]) : compute_t<T>(0);
    }
  }
  DL_DEVICE void store_until(const Array& to, int64_t first, int64_t end) const {
    if constexpr (Array::kWritten) {
      DL_UNROLL
      for (int i = 0; i < kWidth; ++i)
        if (first + i < end) to.array[first + i] = cast<T>(values[i]);
    }
  }
};

// Number of elements per access, for the array with the largest elements.
template <class... Arrays>
DL_FN constexpr int elements_in_access() {
  int largest = 1;
  for (const int size : {static_cast<int>(sizeof(typename Arrays::Element))...})
    largest = size > largest ? size : largest;
  return kWidestAccess / largest;
}

// Return true if vectors of `width` elements can be read from all arrays.
template <class... Arrays>
DL_FN bool have_vectors(int width, int64_t first, const Arrays&... arrays) {
  const auto fits = [=](uintptr_t address, size_t size) {
    const size_t bytes = size * static_cast<size_t>(width);
    return address % (bytes < kWidestAccess ? bytes : kWidestAccess) == 0;
  };
  return (
      fits(reinterpret_cast<uintptr_t>(arrays.array + first), sizeof(typename Arrays::Element)) &&
      ...);
}

template <int kWidth, class F, class... Arrays>
DL_DEVICE void pass_vector(const F& f, PassingElements<Arrays, kWidth>... elements, int64_t first,
                           uint32_t at, Arrays... arrays) {
  (elements.load(arrays, first, at), ...);
  DL_UNROLL
  for (int i = 0; i < kWidth; ++i) f(elements.values[i]...);
  (elements.store(arrays, first, at), ...);
}

template <int kWidth, class F, class... Arrays>
DL_DEVICE void pass_range(const F& f, uint32_t begin, uint32_t end, int64_t first,
                          Arrays... arrays) {
  DL_NO_UNROLL
  for (uint32_t at = begin + static_cast<uint32_t>(thread_index()); at < end; at += kThreads)
    pass_vector<kWidth, F, Arrays...>(f, PassingElements<Arrays, kWidth>{}..., first, at,
                                      arrays...);
}

}  // namespace gpu

// n must be below 2^31.
template <class B, class F, class... Arrays>
DL_DEVICE void map_elements(const B&, int64_t n, const F& f, int64_t first, Arrays... arrays) {
  constexpr int kWidth = gpu::elements_in_access<Arrays...>();
  const uint32_t count = static_cast<uint32_t>(n);
  const uint32_t vectors = gpu::have_vectors(kWidth, first, arrays...) ? count / kWidth : 0;
  gpu::pass_range<kWidth>(f, 0, vectors, first, arrays...);
  gpu::pass_range<1>(f, vectors * kWidth, count, first, arrays...);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ELEMENTS_H_
