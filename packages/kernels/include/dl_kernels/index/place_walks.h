// Going through the places of an indexed tensor together with another one of the result's shape, of
// the backend:
//
//   take_places(launch, places, strides, from, to)   the other becomes what is at the places
//   put_places(launch, places, strides, to, from)    the places become what is in the other
//   add_places(launch, places, strides, to, from)    the same, added in the type of `to`
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
