// Joint iteration over several tensors: broadcast against the first one, dimensions sorted by
// stride and collapsed.
#ifndef DL_KERNELS_LAYOUT_PLAN_H_
#define DL_KERNELS_LAYOUT_PLAN_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// N operands over one iteration space. Dimension ndim-1 is the innermost. Strides count elements.
template <int N>
struct Plan {
  int ndim;
  int64_t numel;
  int64_t shape[kMaxDims];
  int64_t strides[N][kMaxDims];
};

namespace detail {

// Return true if dimension `a` should be outside `b`. The first operand with different nonzero
// strides decides.
template <int N>
bool belongs_outside(const Plan<N>& plan, int a, int b) {
  for (int k = 0; k < N; ++k) {
    const int64_t sa = plan.strides[k][a], sb = plan.strides[k][b];
    if (sa == 0 || sb == 0 || sa == sb) continue;
    return sa > sb;
  }
  return true;
}

template <int N>
void swap_dims(Plan<N>& plan, int a, int b) {
  const int64_t extent = plan.shape[a];
  plan.shape[a] = plan.shape[b];
  plan.shape[b] = extent;
  for (int k = 0; k < N; ++k) {
    const int64_t stride = plan.strides[k][a];
    plan.strides[k][a] = plan.strides[k][b];
    plan.strides[k][b] = stride;
  }
}

}  // namespace detail

// Drop dimensions of extent 1, sort the others by stride and collapse adjacent ones that can be
// iterated as one.
template <int N>
void simplify(Plan<N>& plan) {
  int kept = 0;
  for (int d = 0; d < plan.ndim; ++d) {
    if (plan.shape[d] == 1) continue;
    if (kept != d) detail::swap_dims(plan, kept, d);
    ++kept;
  }
  for (int d = 1; d < kept; ++d) {
    for (int e = d; e > 0 && !detail::belongs_outside(plan, e - 1, e); --e)
      detail::swap_dims(plan, e - 1, e);
  }
  int last = 0;
  for (int d = 1; d < kept; ++d) {
    bool merges = true;
    for (int k = 0; k < N; ++k)
      merges &= plan.strides[k][last] == plan.strides[k][d] * plan.shape[d];
    if (merges) {
      plan.shape[last] *= plan.shape[d];
    } else {
      ++last;
      plan.shape[last] = plan.shape[d];
    }
    for (int k = 0; k < N; ++k) plan.strides[k][last] = plan.strides[k][d];
  }
  plan.ndim = kept == 0 ? 0 : last + 1;
  if (kept == 0) {
    plan.ndim = 1;
    plan.shape[0] = 1;
    for (int k = 0; k < N; ++k) plan.strides[k][0] = 1;
  }
}

// Compute the strides of operand `k`, broadcast to `target`.
template <int N>
diopiError_t broadcast_to(const char* op, Plan<N>& plan, int k, const TensorRef& tensor,
                          const TensorRef& target) {
  const int64_t missing = target.ndim - tensor.ndim;
  if (missing < 0 && tensor.numel != 1) {
    return fail(op, "input %d has %lld dimensions, more than the output's %lld", k,
                (long long)tensor.ndim, (long long)target.ndim);
  }
  for (int64_t d = 0; d < target.ndim; ++d) {
    const int64_t e = d - missing;
    if (missing < 0 || e < 0 || tensor.sizes[e] == 1) {
      plan.strides[k][d] = 0;
    } else if (tensor.sizes[e] == target.sizes[d]) {
      plan.strides[k][d] = tensor.strides[e];
    } else {
      return fail(
          op, "input %d has %lld elements in dim %lld and cannot be broadcast to the output's %lld",
          k, (long long)tensor.sizes[e], (long long)e, (long long)target.sizes[d]);
    }
  }
  return diopiSuccess;
}

// refs[0] is the output and sets the shape.
template <int N>
diopiError_t make_plan(const char* op, Plan<N>& plan, const TensorRef (&refs)[N]) {
  const TensorRef& out = refs[0];
  if (out.ndim > kMaxDims) return diopiNoImplement;
  plan.ndim = static_cast<int>(out.ndim);
  plan.numel = out.numel;
  for (int d = 0; d < plan.ndim; ++d) {
    plan.shape[d] = out.sizes[d];
    plan.strides[0][d] = out.strides[d];
  }
  for (int k = 1; k < N; ++k) DL_TRY(broadcast_to(op, plan, k, refs[k], out));
  simplify(plan);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_PLAN_H_
