// A block: the workers that share one row, and their collectives. Kernels are written against it;
// the backend implements it as a group of GPU threads or as one core with vector instructions.
//
//   block.map(n, f)            calls f(i) for every i
//   block.map_part(b, e, f)    the same from b to e - 1; each element is
//                              assigned to the same worker as by map
//   block.sum(n, f)            sums f(i), in the type that f returns
//   block.sum_pair(n, f)       sums both members of the pairs that f returns, in double
//   block.reduce(n, start, combine, f)
//   block.scan<T>(n, load, combine, store)   inclusive
//
// `rows(launch, count, width, kernel)` calls kernel(block, row) for every row. For kernels that
// only map, `mapped_rows(launch, count, n, width, kernel)` uses as many workers per row as maps
// over about `n` elements can employ.
#ifndef DL_KERNELS_PARALLEL_BLOCK_H_
#define DL_KERNELS_PARALLEL_BLOCK_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/block.h"
#else
#include "dl_kernels/cpu/block.h"
#endif

#endif  // DL_KERNELS_PARALLEL_BLOCK_H_
