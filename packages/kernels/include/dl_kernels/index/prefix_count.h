// Counts of marked positions up to each position: an inclusive prefix sum over marks.
//
//   prefix_count(launch, n, marked, put)
//       calls put(i, k, marked(i)) for every i in [0, n), where k of the positions 0 … i are
//       marked; returns how many there are in all, for which it waits. Functors hold no references.
#ifndef DL_KERNELS_INDEX_PREFIX_COUNT_H_
#define DL_KERNELS_INDEX_PREFIX_COUNT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/prefix_count.h"
#endif

DL_KERNELS_BEGIN

#if DL_KERNELS_GPU

template <class Marked, class Put>
int64_t prefix_count(const Launch& launch, int64_t n, const Marked& marked, const Put& put) {
  const gpu::MarkedPositions<Marked> positions(launch, n, marked);
  positions.number(put);
  return positions.count();
}

#else

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

#endif

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_PREFIX_COUNT_H_
