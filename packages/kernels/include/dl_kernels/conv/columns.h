// im2col and col2im of the backend: unfold(launch, shape, images, columns) and fold(launch, shape,
// columns, images).
#ifndef DL_KERNELS_CONV_COLUMNS_H_
#define DL_KERNELS_CONV_COLUMNS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/columns_shape.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/columns.h"
#else
#include "dl_kernels/cpu/columns.h"
#endif

#endif  // DL_KERNELS_CONV_COLUMNS_H_
