// Inclusive prefix sums over marked positions, in the backend's implementation:
//
//   prefix_count(launch, n, marked, put)
//       calls put(i, k, marked(i)) for every i in [0, n), where k of the positions 0 … i are
//       marked; returns the total, for which it waits. Functors must not hold references.
//   prefix_count_to(launch, n, marked, put, count)
//       the same without waiting: the total is written to *count in device memory.
#ifndef DL_KERNELS_INDEX_PREFIX_COUNT_H_
#define DL_KERNELS_INDEX_PREFIX_COUNT_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/prefix_count.h"
#else
#include "dl_kernels/cpu/prefix_count.h"
#endif

#endif  // DL_KERNELS_INDEX_PREFIX_COUNT_H_
