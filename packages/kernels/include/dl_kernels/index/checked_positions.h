// The indexes along one dimension, which may count from its end, checked, of the backend:
//
//   CheckedPositions::open(launch, op, indexes, count, dim, extent, room)
//   data()            what to read them from; a GPU has them copied to `room`, as CheckedIndexes
//   does from_end()        whether some still count from the end lasts(indexes)    whether data()
//   lasts as long as `indexes` and `room`
#ifndef DL_KERNELS_INDEX_CHECKED_POSITIONS_H_
#define DL_KERNELS_INDEX_CHECKED_POSITIONS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/checked_positions.h"
#else
#include "dl_kernels/cpu/checked_positions.h"
#endif

#endif  // DL_KERNELS_INDEX_CHECKED_POSITIONS_H_
