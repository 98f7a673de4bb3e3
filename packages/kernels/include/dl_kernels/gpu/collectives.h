// Collectives of the threads that share a row, by shuffles or through shared memory.
#ifndef DL_KERNELS_GPU_COLLECTIVES_H_
#define DL_KERNELS_GPU_COLLECTIVES_H_

#include "dl_kernels/base/config.h"
#if DL_KERNELS_NO_SHUFFLES
#include "dl_kernels/gpu/memory_collectives.h"
#else
#include "dl_kernels/gpu/shuffle_collectives.h"
#endif

DL_KERNELS_BEGIN

namespace gpu {

#if DL_KERNELS_NO_SHUFFLES
using Team = MemoryTeam;
#else
using Team = ShuffleTeam;
#endif

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_COLLECTIVES_H_
