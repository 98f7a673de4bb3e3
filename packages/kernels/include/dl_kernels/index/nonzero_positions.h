// Positions of the nonzero elements of an array, in order, in the backend's implementation:
//
//   NonzeroPositions<T> found(launch, from, count);   of a contiguous array
//   found.count()                                     their number, known on the host
//   found.coordinates(sizes, ndim, to, step)          write coordinate d of position k to
//                                                     to[d][k * step]
//
// `take_nonzero(ctx, op, found, values, to)` copies the elements of `values` at these positions to
// a contiguous array; `values` has as many elements as the array that was searched.
#ifndef DL_KERNELS_INDEX_NONZERO_POSITIONS_H_
#define DL_KERNELS_INDEX_NONZERO_POSITIONS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/nonzero_positions.h"
#else
#include "dl_kernels/cpu/nonzero_positions.h"
#endif

#endif  // DL_KERNELS_INDEX_NONZERO_POSITIONS_H_
