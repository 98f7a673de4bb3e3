// Convolution of contiguous tensors, in the backend's implementation.
#ifndef DL_KERNELS_CONV_CONVOLVE_H_
#define DL_KERNELS_CONV_CONVOLVE_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/conv_shape.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/convolve.h"
#else
#include "dl_kernels/cpu/convolve.h"
#endif

#endif  // DL_KERNELS_CONV_CONVOLVE_H_
