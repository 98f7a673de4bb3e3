// The interface between kernels and the machine they run on: `Launch` names the stream or thread
// pool, `Workspace` is scratch memory there. `each(launch, count, work, f)` calls f(i) for every i
// in any order, where an item takes `work` steps; `Held` is host memory that kernels read.
#ifndef DL_KERNELS_PARALLEL_LAUNCH_H_
#define DL_KERNELS_PARALLEL_LAUNCH_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/launch.h"
#else
#include "dl_kernels/cpu/launch.h"
#endif

#endif  // DL_KERNELS_PARALLEL_LAUNCH_H_
