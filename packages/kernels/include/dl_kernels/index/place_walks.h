// Strided indexing: gather, scatter and accumulate at indexed positions of a tensor, iterating
// jointly over another tensor of the result's shape. In the backend's implementation:
//
//   take_places(launch, places, strides, from, to)   gather: read the positions into `to`
//   put_places(launch, places, strides, to, from)    scatter: write `from` to the positions
//   add_places(launch, places, strides, to, from)    accumulate at the positions, in the type of
//   `to`
//
// `strides` belong to the other tensor, one for each dimension of the result.
#ifndef DL_KERNELS_INDEX_PLACE_WALKS_H_
#define DL_KERNELS_INDEX_PLACE_WALKS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/place_walks.h"
#else
#include "dl_kernels/cpu/place_walks.h"
#endif

#endif  // DL_KERNELS_INDEX_PLACE_WALKS_H_
