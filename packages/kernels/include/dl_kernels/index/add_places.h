// Indexed positions move along a dimension to where its index tensor says, of the backend:
//
//   add_whole(launch, add, count)      the tensor has an index for each of `count` positions
//   add_repeated(launch, add, plan)    it is broadcast, as the plan says
#ifndef DL_KERNELS_INDEX_ADD_PLACES_H_
#define DL_KERNELS_INDEX_ADD_PLACES_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/add_places.h"
#else
#include "dl_kernels/cpu/add_places.h"
#endif

#endif  // DL_KERNELS_INDEX_ADD_PLACES_H_
