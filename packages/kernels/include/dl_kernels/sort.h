// Sorting and selection along one dimension: a seam for a vendor's library.
//
//   sort_along<T>(launch, order, plan, in, values, indices)
//       every row of `in` sorted, equal elements in their order; `values` or `indices` may be null
//   select_along<T>(launch, order, plan, in, k, sorted, values, indices)
//       the first k of each row in that order
//   sort_slices<T>(launch, in, count, width, order)
//       the positions that sort `count` dense slices of `width` elements, the first element first
//
// Plans hold input, values and indices. NaN counts as the largest.
#ifndef DL_KERNELS_SORT_H_
#define DL_KERNELS_SORT_H_

#include "dl_kernels/config.h"

#if DL_KERNELS_GPU
#error "Sorting on a GPU is provided by the GPU vendor packages."
#else
#include "dl_kernels/cpu/sort.h"
#endif

#endif  // DL_KERNELS_SORT_H_
