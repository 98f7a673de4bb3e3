// The first item that has a property, as an answer to the host: it waits for the device.
#ifndef DL_KERNELS_SEARCH_H_
#define DL_KERNELS_SEARCH_H_

#include <cstdint>

#include "dl_kernels/block.h"
#include "dl_kernels/config.h"
#include "dl_kernels/launch.h"

DL_KERNELS_BEGIN

namespace detail {

template <class F>
struct FirstWhere {
  int64_t count;
  F f;
  int64_t* first;

  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const F& found = f;
    const int64_t none = count;
    const int64_t at = block.reduce(
        count, none, [](int64_t a, int64_t b) { return a < b ? a : b; },
        [&found, none](int64_t i) { return found(i) ? i : none; });
    int64_t* to = first;
    block.map(1, [to, at](int64_t) { *to = at; });
  }
};

}  // namespace detail

// The smallest i in [0, count) with f(i); `count` where there is none. `f` is a functor without
// references.
template <class F>
int64_t first_where(const Launch& launch, int64_t count, const F& f) {
  if (count <= 0) return count;
#if DL_KERNELS_GPU
  const Workspace<int64_t> first(launch, 1);
  rows(launch, 1, count, detail::FirstWhere<F>{count, f, first.data()});
  return fetch(launch, first.data());
#else
  int64_t i = 0;
  while (i < count && !f(i)) ++i;
  return i;
#endif
}

DL_KERNELS_END

#endif  // DL_KERNELS_SEARCH_H_
