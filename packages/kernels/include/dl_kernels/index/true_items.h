// Which items of an array are true, in order, of the backend:
//
//   TrueItems<T> items(launch, from, count);   elements other than 0 of a dense array
//   items.count()                              how many: an answer to the host
//   items.coordinates(sizes, ndim, to, step)   coordinate d of true item k goes to to[d][k * step]
//
// and `take_true(ctx, op, items, values, to)` writes the elements of `values` at true items to
// a dense array; `values` has as many elements as there are items.
#ifndef DL_KERNELS_INDEX_TRUE_ITEMS_H_
#define DL_KERNELS_INDEX_TRUE_ITEMS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/true_items.h"
#else
#include "dl_kernels/cpu/true_items.h"
#endif

#endif  // DL_KERNELS_INDEX_TRUE_ITEMS_H_
