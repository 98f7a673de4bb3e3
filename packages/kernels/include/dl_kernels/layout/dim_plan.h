// Iteration along one dimension: the other dimensions are collapsed into numbered rows.
#ifndef DL_KERNELS_LAYOUT_DIM_PLAN_H_
#define DL_KERNELS_LAYOUT_DIM_PLAN_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/dims.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

template <int N>
struct DimPlan {
  Plan<N> rows;     // numel is the number of rows
  int64_t n;        // extent of the dimension in the first tensor
  int64_t step[N];  // stride of each tensor along it
};

// The tensors must agree in all other dimensions.
template <int N>
diopiError_t make_dim_plan(const char* op, int64_t dim, const TensorRef (&refs)[N],
                           DimPlan<N>& plan) {
  const TensorRef& first = refs[0];
  if (first.ndim > kMaxDims) return diopiNoImplement;
  int64_t wrapped;
  DL_TRY(check_dim(op, dim, first.ndim, &wrapped));
  for (int k = 1; k < N; ++k) {
    if (refs[k].ndim != first.ndim) {
      return fail(op, "tensors with %lld and %lld dimensions were given; they must agree",
                  (long long)first.ndim, (long long)refs[k].ndim);
    }
  }
  plan.n = 1;
  for (int k = 0; k < N; ++k) plan.step[k] = 1;
  plan.rows.ndim = 0;
  plan.rows.numel = 1;
  for (int64_t d = 0; d < first.ndim; ++d) {
    if (d == wrapped) {
      plan.n = first.sizes[d];
      for (int k = 0; k < N; ++k) plan.step[k] = refs[k].strides[d];
      continue;
    }
    for (int k = 1; k < N; ++k) {
      if (refs[k].sizes[d] != first.sizes[d]) {
        return fail(op,
                    "tensors with %lld and %lld elements in dim %lld were given; they must agree",
                    (long long)first.sizes[d], (long long)refs[k].sizes[d], (long long)d);
      }
    }
    plan.rows.shape[plan.rows.ndim] = first.sizes[d];
    for (int k = 0; k < N; ++k) plan.rows.strides[k][plan.rows.ndim] = refs[k].strides[d];
    ++plan.rows.ndim;
    plan.rows.numel *= first.sizes[d];
  }
  if (plan.n == 1) {
    for (int k = 0; k < N; ++k) plan.step[k] = 1;  // any stride will do; 1 selects the fast path
  }
  simplify(plan.rows);
  return diopiSuccess;
}

// The tensors have the same shape.
template <int N>
diopiError_t make_line_plan(const char* op, int64_t dim, const TensorRef (&refs)[N],
                            DimPlan<N>& plan) {
  DL_TRY(make_dim_plan(op, dim, refs, plan));
  for (int k = 1; k < N; ++k) {
    if (!same_shape(refs[0], refs[k])) {
      return fail(op, "tensors with %lld and %lld elements were given; their shapes must agree",
                  (long long)refs[0].numel, (long long)refs[k].numel);
    }
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_DIM_PLAN_H_
