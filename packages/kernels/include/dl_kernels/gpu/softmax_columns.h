// GPU: such rows are handled one by one, as all others.
#ifndef DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_
#define DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

template <class T, class O, bool Log>
bool softmax_by_columns(const Launch&, const DimPlan<2>&, O*, const T*) {
  return false;
}

template <class T, class I, bool Log>
bool softmax_backward_by_columns(const Launch&, const DimPlan<3>&, I*, const T*, const T*) {
  return false;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_
