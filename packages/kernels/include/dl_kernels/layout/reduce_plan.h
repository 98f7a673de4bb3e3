// Iteration of a reduction: the kept dimensions, for output and input, and the reduced ones, for
// the input.
#ifndef DL_KERNELS_LAYOUT_REDUCE_PLAN_H_
#define DL_KERNELS_LAYOUT_REDUCE_PLAN_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/dims.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

struct ReducePlan {
  Plan<2> kept;     // strides of output and input
  Plan<1> reduced;  // strides of the input
};

// Return a bit mask of the dimensions in `dim`; all dimensions if it is empty.
inline diopiError_t reduced_dims(const char* op, const TensorRef& input, diopiSize_t dim,
                                 uint32_t* mask) {
  if (input.ndim > kMaxDims) return diopiNoImplement;
  *mask = 0;
  if (dim.data == nullptr || dim.len == 0) {
    *mask = (uint32_t(1) << input.ndim) - 1;
    return diopiSuccess;
  }
  for (int64_t i = 0; i < dim.len; ++i) {
    int64_t d;
    DL_TRY(check_dim(op, dim.data[i], input.ndim, &d));
    if ((*mask >> d & 1) != 0)
      return fail(op, "dim %lld appears twice in the list of dims", (long long)d);
    *mask |= uint32_t(1) << d;
  }
  return diopiSuccess;
}

// The same for one optional dimension.
inline diopiError_t reduced_dims(const char* op, const TensorRef& input, const int64_t* dim,
                                 uint32_t* mask) {
  return reduced_dims(op, input, diopiSize_t{dim, dim == nullptr ? 0 : 1}, mask);
}

// The output may keep the reduced dimensions with extent 1 (keepdim), or omit them.
inline diopiError_t make_reduce_plan(const char* op, const TensorRef& out, const TensorRef& input,
                                     uint32_t mask, ReducePlan& plan) {
  Plan<2>& kept = plan.kept;
  Plan<1>& reduced = plan.reduced;
  kept.ndim = reduced.ndim = 0;
  kept.numel = reduced.numel = 1;
  const bool keeps_dims = out.ndim == input.ndim;
  int64_t next = 0;
  for (int64_t d = 0; d < input.ndim; ++d) {
    const int64_t extent = input.sizes[d];
    if ((mask >> d & 1) != 0) {
      reduced.shape[reduced.ndim] = extent;
      reduced.strides[0][reduced.ndim++] = input.strides[d];
      reduced.numel *= extent;
      continue;
    }
    const int64_t o = keeps_dims ? d : next++;
    if (o >= out.ndim || out.sizes[o] != extent) {
      return fail(op, "the output does not have the %lld elements of input dim %lld",
                  (long long)extent, (long long)d);
    }
    kept.shape[kept.ndim] = extent;
    kept.strides[0][kept.ndim] = out.strides[o];
    kept.strides[1][kept.ndim++] = input.strides[d];
    kept.numel *= extent;
  }
  if (kept.numel != out.numel) {
    return fail(op, "the output has %lld elements, the reduction gives %lld", (long long)out.numel,
                (long long)kept.numel);
  }
  simplify(kept);
  simplify(reduced);
  return diopiSuccess;
}

// Compute the element offsets of position `index` in the order of the plan.
template <int N>
DL_FN void offsets_of(const Plan<N>& plan, int64_t index, int64_t (&offsets)[N]) {
  for (int k = 0; k < N; ++k) offsets[k] = 0;
  for (int d = plan.ndim - 1; d > 0; --d) {
    const int64_t rest = index / plan.shape[d];
    const int64_t at = index - rest * plan.shape[d];
    index = rest;
    for (int k = 0; k < N; ++k) offsets[k] += at * plan.strides[k][d];
  }
  for (int k = 0; k < N; ++k) offsets[k] += index * plan.strides[k][0];
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_REDUCE_PLAN_H_
