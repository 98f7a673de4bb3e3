// deformable_scatter(launch, samples, columns, first, count, image) of the backend: add the column
// gradients of the positions from `first` on to the cells of an image.
#ifndef DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_
#define DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/deformable_scatter.h"
#else
#include "dl_kernels/cpu/deformable_scatter.h"
#endif

#endif  // DL_KERNELS_CONV_DEFORMABLE_SCATTER_H_
