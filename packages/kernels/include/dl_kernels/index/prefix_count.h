// Counts of marked positions up to each position: an inclusive prefix sum over marks, of
// the backend:
//
//   prefix_count(launch, n, marked, put)
//       calls put(i, k, marked(i)) for every i in [0, n), where k of the positions 0 … i are
//       marked; returns how many there are in all, for which it waits. Functors hold no references.
//   prefix_count_to(launch, n, marked, put, count)
//       the same without waiting: how many there are goes to *count, memory of the device.
#ifndef DL_KERNELS_INDEX_PREFIX_COUNT_H_
#define DL_KERNELS_INDEX_PREFIX_COUNT_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/prefix_count.h"
#else
#include "dl_kernels/cpu/prefix_count.h"
#endif

#endif  // DL_KERNELS_INDEX_PREFIX_COUNT_H_
