// CPU: a sequential exclusive scan of the marked positions.
#ifndef DL_KERNELS_CPU_PREFIX_COUNT_H_
#define DL_KERNELS_CPU_PREFIX_COUNT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

template <class Marked, class Put>
int64_t prefix_count(const Launch&, int64_t n, const Marked& marked, const Put& put) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool is_marked = marked(i);
    total += is_marked ? 1 : 0;
    put(i, total, is_marked);
  }
  return total;
}

template <class Marked, class Put>
void prefix_count_to(const Launch& launch, int64_t n, const Marked& marked, const Put& put,
                     int64_t* count) {
  *count = prefix_count(launch, n, marked, put);
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_PREFIX_COUNT_H_
