// The seam between kernels and the machine they run on: `Launch` says where, `Workspace` is scratch
// memory there. `each(launch, count, work, f)` calls f(i) for every i in no order, where an item
// takes `work` steps; `Held` is what a kernel keeps of the host's memory.
#ifndef DL_KERNELS_PARALLEL_LAUNCH_H_
#define DL_KERNELS_PARALLEL_LAUNCH_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/launch.h"
#else
#include "dl_kernels/cpu/launch.h"
#endif

#endif  // DL_KERNELS_PARALLEL_LAUNCH_H_
