// CPU: the first item with a property, one item after another.
#ifndef DL_KERNELS_CPU_SEARCH_H_
#define DL_KERNELS_CPU_SEARCH_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

template <class F>
int64_t first_where(const Launch&, int64_t count, const F& f) {
  int64_t i = 0;
  while (i < count && !f(i)) ++i;
  return i < count ? i : count;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SEARCH_H_
