// Softmax of many rows at once whose corresponding elements are adjacent in memory; on a GPU, of
// any rows.
#ifndef DL_KERNELS_NORM_SOFTMAX_COLUMNS_H_
#define DL_KERNELS_NORM_SOFTMAX_COLUMNS_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/softmax_columns.h"
#else
#include "dl_kernels/cpu/softmax_columns.h"
#endif

#endif  // DL_KERNELS_NORM_SOFTMAX_COLUMNS_H_
