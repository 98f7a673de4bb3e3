// Offsets of indexed positions: add the contribution of one dimension and its index tensor. In the
// backend's implementation:
//
//   add_offsets(launch, add, count)             the index tensor has an element
//                                               for each of `count` positions
//   add_broadcast_offsets(launch, add, plan)    it is broadcast, as the plan says
#ifndef DL_KERNELS_INDEX_ADD_OFFSETS_H_
#define DL_KERNELS_INDEX_ADD_OFFSETS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/add_offsets.h"
#else
#include "dl_kernels/cpu/add_offsets.h"
#endif

#endif  // DL_KERNELS_INDEX_ADD_OFFSETS_H_
