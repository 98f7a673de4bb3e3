// A block: the workers that share one row, and what they do together. Kernels are written against
// it; the backend says whether it is a group of GPU threads or one core with vector instructions.
//
//   block.map(n, f)            calls f(i) for every i
//   block.map_part(b, e, f)    the same from b to e - 1, with the workers that map has for them
//   block.sum(n, f)            adds up f(i), in the type that f returns
//   block.sum_pair(n, f)       adds up both members of the pairs that f returns, in double
//   block.reduce(n, start, combine, f)
//   block.scan<T>(n, load, combine, store)   inclusive
//
// Rows are given out by `rows(launch, count, width, kernel)`, which calls kernel(block, row). Where
// a kernel needs nothing but maps, `mapped_rows(launch, count, n, width, kernel)` takes as many
// workers for a row as its maps over about `n` elements can use.
#ifndef DL_KERNELS_PARALLEL_BLOCK_H_
#define DL_KERNELS_PARALLEL_BLOCK_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/block.h"
#else
#include "dl_kernels/cpu/block.h"
#endif

#endif  // DL_KERNELS_PARALLEL_BLOCK_H_
