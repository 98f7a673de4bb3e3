// The first item with a property, returned to the host, which waits for the device.
#ifndef DL_KERNELS_PARALLEL_SEARCH_H_
#define DL_KERNELS_PARALLEL_SEARCH_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/total.h"
#endif

DL_KERNELS_BEGIN

#if DL_KERNELS_GPU
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
#endif

// The smallest i in [0, count) with f(i); `count` where there is none. `f` is a functor without
// references.
template <class F>
int64_t first_where([[maybe_unused]] const Launch& launch, int64_t count, const F& f) {
  if (count <= 0) return count;
#if DL_KERNELS_GPU
  const Workspace<int64_t> first(launch, 1);
  gpu::total(launch, count, count, detail::Smaller{}, detail::Found<F>{f, count}, first.data());
  return fetch(launch, first.data());
#else
  int64_t i = 0;
  while (i < count && !f(i)) ++i;
  return i;
#endif
}

DL_KERNELS_END

#endif  // DL_KERNELS_PARALLEL_SEARCH_H_
