// Softmax and log-softmax of rows, and their gradients.
#ifndef DL_KERNELS_NORM_SOFTMAX_ROWS_H_
#define DL_KERNELS_NORM_SOFTMAX_ROWS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/softmax_rows.h"
#else
#include "dl_kernels/cpu/softmax_rows.h"
#endif

#endif  // DL_KERNELS_NORM_SOFTMAX_ROWS_H_
