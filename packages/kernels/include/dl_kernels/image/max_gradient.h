// The gradient of max pooling: add every output's gradient to the cell of its maximum.
//
//   check_positions(launch, op, places, count, cells)   check that places are in [0, cells)
//   add_maxima(launch, planes, adaptive, to, grads, places)
//
// For every output, `places` holds the index of the maximum in its input plane. This index may be
// outside the output's window.
#ifndef DL_KERNELS_IMAGE_MAX_GRADIENT_H_
#define DL_KERNELS_IMAGE_MAX_GRADIENT_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/max_gradient.h"
#else
#include "dl_kernels/cpu/max_gradient.h"
#endif

#endif  // DL_KERNELS_IMAGE_MAX_GRADIENT_H_
