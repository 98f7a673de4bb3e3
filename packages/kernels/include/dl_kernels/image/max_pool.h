// Max pooling of contiguous (channels-first) planes, in the backend's implementation:
//
//   max_pool_rows(launch, work, adaptive, rows)   all rows of a MaxPoolRow; an output takes about
//                                                 `work` steps
#ifndef DL_KERNELS_IMAGE_MAX_POOL_H_
#define DL_KERNELS_IMAGE_MAX_POOL_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/max_pool.h"
#else
#include "dl_kernels/cpu/max_pool.h"
#endif

#endif  // DL_KERNELS_IMAGE_MAX_POOL_H_
