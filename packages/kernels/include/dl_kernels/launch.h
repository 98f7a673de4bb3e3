// The seam between kernels and the machine they run on: `Launch` says where, `Workspace` is scratch
// memory there.
#ifndef DL_KERNELS_LAUNCH_H_
#define DL_KERNELS_LAUNCH_H_

#include "dl_kernels/config.h"

#if DL_KERNELS_GPU
#error "The GPU backend of dl-kernels is provided by the GPU vendor packages."
#else
#include "dl_kernels/cpu/launch.h"
#endif

#endif  // DL_KERNELS_LAUNCH_H_
