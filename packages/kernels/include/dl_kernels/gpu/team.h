// Scratch memory and results of scans that all collectives of teams share.
#ifndef DL_KERNELS_GPU_TEAM_H_
#define DL_KERNELS_GPU_TEAM_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

// Shared memory with which the warps of a block communicate: 32 bytes for each.
struct alignas(16) BlockScratch {
  unsigned char bytes[32 * gpu::kThreads / gpu::kLeastWarp];
};

namespace gpu {

// Inclusive prefix sums up to a thread: within its part of the team, and of the parts before; and
// the total.
template <class T>
struct Scanned {
  T inner, outer, all;
  bool has_outer;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TEAM_H_
