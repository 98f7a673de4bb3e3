// Gather, scatter and accumulate at indexed positions, of the backend: the positions of an indexed
// tensor are visited together with another tensor of the result's shape.
//
//   take_places(launch, places, strides, from, to)   gather: `to` becomes what is at the places
//   put_places(launch, places, strides, to, from)    scatter: the places become what is in `from`
//   add_places(launch, places, strides, to, from)    accumulate, in the type of `to`
//
// `strides` are those of the other tensor, for each dimension of the result.
#ifndef DL_KERNELS_INDEX_PLACE_WALKS_H_
#define DL_KERNELS_INDEX_PLACE_WALKS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/place_walks.h"
#else
#include "dl_kernels/cpu/place_walks.h"
#endif

#endif  // DL_KERNELS_INDEX_PLACE_WALKS_H_
