// deformable_scatter(launch, samples, columns, first, count, image), of the backend: adds to an
// image what the gradients of the columns of positions from `first` on are for its cells.
#ifndef DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_
#define DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/deformable_scatter.h"
#else
#include "dl_kernels/cpu/deformable_scatter.h"
#endif

#endif  // DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_
