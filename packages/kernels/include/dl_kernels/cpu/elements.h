// CPU implementation of parallel/elements.h: element by element, in a loop that vectorizes.
#ifndef DL_KERNELS_CPU_ELEMENTS_H_
#define DL_KERNELS_CPU_ELEMENTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace detail {

// Conversion of one element between its array and a function.
template <class Array>
struct PassingElement {
  using T = typename Array::Element;
  compute_t<T> value;

  DL_FN PassingElement(const Array& from, int64_t i) {
    if constexpr (!Array::kWritten) value = cast<compute_t<T>>(from.array[i]);
  }
  DL_FN void leave(const Array& to, int64_t i) const {
    if constexpr (Array::kWritten) to.array[i] = cast<T>(value);
  }
};

template <class... Arrays, class F>
DL_FN void pass(const F& f, PassingElement<Arrays>... elements, int64_t i, Arrays... arrays) {
  f(elements.value...);
  (elements.leave(arrays, i), ...);
}

}  // namespace detail

template <class B, class F, class... Arrays>
DL_FN void map_elements(const B& block, int64_t n, const F& f, int64_t first, Arrays... arrays) {
  block.map(n, [=](int64_t i) {
    detail::pass<Arrays...>(f, detail::PassingElement<Arrays>(arrays, first + i)..., first + i,
                            arrays...);
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ELEMENTS_H_
