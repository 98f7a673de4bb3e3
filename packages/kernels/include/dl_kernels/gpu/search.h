// GPU: the first item with a property is the smallest of the numbers of all that have it.
#ifndef DL_KERNELS_GPU_SEARCH_H_
#define DL_KERNELS_GPU_SEARCH_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"

DL_KERNELS_BEGIN

namespace detail {

// The number of an item that has the property, `none` of others.
template <class F>
struct Found {
  F f;
  int64_t none;
  DL_FN int64_t operator()(int64_t i) const { return f(i) ? i : none; }
};

struct Smaller {
  DL_FN int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

}  // namespace detail

template <class F>
int64_t first_where(const Launch& launch, int64_t count, const F& f) {
  if (count <= 0) return count;
  const Workspace<int64_t> first(launch, 1);
  gpu::total(launch, count, count, detail::Smaller{}, detail::Found<F>{f, count}, first.data());
  return fetch(launch, first.data());
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SEARCH_H_
