// Strided indexing: gather, scatter and accumulate at indexed positions of a tensor, iterating
// jointly over another tensor of the result's shape. In the backend's implementation:
//
//   gather_positions(launch, places, strides, from, to)      read the positions into `to`
//   scatter_positions(launch, places, strides, to, from)     write `from` to the positions
//   accumulate_positions(launch, places, strides, to, from)  add `from` at the positions, in the
//                                                            type of `to`
//
// `strides` belong to the other tensor, one for each dimension of the result.
#ifndef DL_KERNELS_INDEX_STRIDED_INDEXING_H_
#define DL_KERNELS_INDEX_STRIDED_INDEXING_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/strided_indexing.h"
#else
#include "dl_kernels/cpu/strided_indexing.h"
#endif

#endif  // DL_KERNELS_INDEX_STRIDED_INDEXING_H_
