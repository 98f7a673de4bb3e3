// Loops of a scatter, in the backend's implementation:
//
//   scatter_rows(launch, plan, target, source, on_host, index, combine)
//
// For every row and every i < plan.n, the row's element at index[i] becomes combine(element,
// source[i]). The plan holds target, source and index in this order, the target with its stride
// along the dimension. With `on_host`, the source is one element in host memory.
#ifndef DL_KERNELS_INDEX_SCATTER_ROWS_H_
#define DL_KERNELS_INDEX_SCATTER_ROWS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/index/scatter_operators.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/scatter_rows.h"
#else
#include "dl_kernels/cpu/scatter_rows.h"
#endif

#endif  // DL_KERNELS_INDEX_SCATTER_ROWS_H_
