// Sorting and selection along one dimension, an interface that a vendor's library may implement.
//
//   sort_along<T>(launch, order, plan, in, values, indices)
//       sorts every row of `in`, stably
//   select_along<T>(launch, order, plan, in, k, sorted, values, indices)
//       the first k of each row in that order
//   sort_slices<T>(launch, in, count, width, order)
//       the positions that sort `count` contiguous slices of `width` elements lexicographically
//
// Plans hold input, values and indices; `values` or `indices` may be null. NaN is the largest
// value.
#ifndef DL_KERNELS_SORT_SORT_H_
#define DL_KERNELS_SORT_SORT_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/layout/dim_plan.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/sort.h"
#else
#include "dl_kernels/cpu/sort.h"
#endif

DL_KERNELS_BEGIN

// `count` contiguous rows of `n` elements, `kept` of them in the outputs.
inline DimPlan<3> dense_rows(int64_t count, int64_t n, int64_t kept) {
  DimPlan<3> plan{};
  plan.rows.ndim = 1;
  plan.rows.numel = plan.rows.shape[0] = count;
  plan.rows.strides[0][0] = n;
  plan.rows.strides[1][0] = plan.rows.strides[2][0] = kept;
  plan.n = n;
  plan.step[0] = plan.step[1] = plan.step[2] = 1;
  return plan;
}

DL_KERNELS_END

#endif  // DL_KERNELS_SORT_SORT_H_
