// The range of the indexes in a tensor, of the backend:
//
//   index_range(launch, indexes, count)   from 0 and -1 outwards: `low` is negative if an index is,
//                                         `high` if there are none from 0 on. An answer to the
//                                         host.
#ifndef DL_KERNELS_INDEX_INDEX_RANGE_H_
#define DL_KERNELS_INDEX_INDEX_RANGE_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/index_range.h"
#else
#include "dl_kernels/cpu/index_range.h"
#endif

#endif  // DL_KERNELS_INDEX_INDEX_RANGE_H_
