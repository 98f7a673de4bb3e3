// Checked indices along one dimension, which may be negative to count from its end. In the
// backend's implementation:
//
//   CheckedPositions::open(launch, op, indexes, count, dim, extent, room)
//   data()            the indices to read with; a GPU copies them to `room`, like CheckedIndexes
//   from_end()        true if some indices are still negative
//   lasts(indexes)    true if data() is valid for as long as `indexes` and `room`
#ifndef DL_KERNELS_INDEX_CHECKED_POSITIONS_H_
#define DL_KERNELS_INDEX_CHECKED_POSITIONS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/checked_positions.h"
#else
#include "dl_kernels/cpu/checked_positions.h"
#endif

#endif  // DL_KERNELS_INDEX_CHECKED_POSITIONS_H_
