// GPU: traversal of a plan with 32-bit indices: rows along the innermost dimension, each processed
// by a few adjacent threads, and the offset of each row in each operand. Larger plans are split
// into parts.
#ifndef DL_KERNELS_GPU_ROW_WALK_H_
#define DL_KERNELS_GPU_ROW_WALK_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/divider.h"
#include "dl_kernels/gpu/threads.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// Bound of the elements of a plan and of the offsets in an operand, per launch.
inline constexpr int64_t kLargest = INT32_MAX;
// Threads per launch: twice what a large GPU runs at once, so that the setup per thread is
// amortized.
inline constexpr int64_t kMostThreads = int64_t(1) << 19;

inline int64_t distance(int64_t extent, int64_t stride) {
  return (extent - 1) * (stride < 0 ? -stride : stride);
}

// Return true if 32-bit indices suffice for a plan.
template <int N>
bool is_small(const Plan<N>& plan) {
  int64_t count = 1;
  for (int d = 0; d < plan.ndim; ++d) {
    if (plan.shape[d] > kLargest / count) return false;
    count *= plan.shape[d];
  }
  for (int k = 0; k < N; ++k) {
    int64_t reach = 0;
    for (int d = 0; d < plan.ndim; ++d) reach += distance(plan.shape[d], plan.strides[k][d]);
    if (reach > kLargest) return false;
  }
  return true;
}

// Call run(part, first) for small parts of a plan; `first` is the offset of the part in each
// operand.
template <int N, class Run>
void each_small_part(const Plan<N>& plan, const int64_t (&first)[N], const Run& run) {
  if (is_small(plan)) {
    run(plan, first);
    return;
  }
  int widest = 0;
  int64_t most = -1;
  for (int d = 0; d < plan.ndim; ++d) {
    for (int k = 0; k < N; ++k) {
      const int64_t reach = distance(plan.shape[d], plan.strides[k][d]);
      if (plan.shape[d] == 1 || reach <= most) continue;
      widest = d;
      most = reach;
    }
  }
  Plan<N> part = plan;
  int64_t begin[N];
  for (int k = 0; k < N; ++k) begin[k] = first[k];
  const int64_t half = plan.shape[widest] / 2;
  for (const int64_t extent : {half, plan.shape[widest] - half}) {
    part.shape[widest] = extent;
    part.numel = plan.numel / plan.shape[widest] * extent;
    each_small_part(part, begin, run);
    for (int k = 0; k < N; ++k) begin[k] += half * plan.strides[k][widest];
  }
}

template <int N>
struct RowWalk {
  uint32_t rows, length;
  uint32_t iterations;  // vector iterations; the rest of a row is processed element by element
  uint32_t groups;      // groups of threads: each processes every `groups`-th row
  Divider lanes;        // threads per group
  int outer;            // dimensions other than the innermost one
  int32_t steps[N];     // strides along a row, in elements
  // Extents of the other dimensions, innermost first.
  Divider extents[kMaxDims - 1];
  int32_t strides[N][kMaxDims - 1];

  uint32_t threads() const { return groups * lanes.divisor(); }

  // Compute the offset of a row in each operand, in elements.
  DL_FN void begin_of(uint32_t row, int32_t (&offsets)[N]) const {
    for (int k = 0; k < N; ++k) offsets[k] = 0;
    for (int d = 0; d < outer; ++d) {
      const uint32_t rest = extents[d].quotient(row);
      const int32_t at = static_cast<int32_t>(row - rest * extents[d].divisor());
      for (int k = 0; k < N; ++k) offsets[k] += at * strides[k][d];
      row = rest;
    }
  }
};

// Build the traversal of a small plan. A vector iteration processes `in_iteration` elements; 0
// disables vectors.
template <int N>
RowWalk<N> make_row_walk(const Plan<N>& plan, int64_t in_iteration) {
  RowWalk<N> walk{};
  const int inner = plan.ndim - 1;
  walk.length = static_cast<uint32_t>(plan.shape[inner]);
  walk.rows = static_cast<uint32_t>(plan.numel / plan.shape[inner]);
  walk.iterations = in_iteration > 0 ? walk.length / static_cast<uint32_t>(in_iteration) : 0;
  walk.outer = inner;
  for (int k = 0; k < N; ++k) walk.steps[k] = static_cast<int32_t>(plan.strides[k][inner]);
  for (int d = 0; d < inner; ++d) {
    walk.extents[d] = Divider(static_cast<uint32_t>(plan.shape[inner - 1 - d]));
    for (int k = 0; k < N; ++k)
      walk.strides[k][d] = static_cast<int32_t>(plan.strides[k][inner - 1 - d]);
  }
  const int64_t work = walk.iterations > 0 ? walk.iterations : walk.length;
  const int64_t rounds = (work + kMostThreads - 1) / kMostThreads;
  const int64_t lanes = (work + rounds - 1) / rounds;
  const int64_t groups = kMostThreads / lanes;
  walk.lanes = Divider(static_cast<uint32_t>(lanes));
  walk.groups = static_cast<uint32_t>(groups < walk.rows ? groups : walk.rows);
  return walk;
}

// Return true if an operand's rows can be read in vectors of `width` elements: its elements are
// adjacent along them, and every row is aligned to `alignment` bytes.
template <int N>
bool has_vectors(const Plan<N>& plan, int k, const void* data, int64_t size, int64_t alignment) {
  const int inner = plan.ndim - 1;
  if (plan.strides[k][inner] != 1 || reinterpret_cast<uintptr_t>(data) % alignment != 0)
    return false;
  for (int d = 0; d < inner; ++d)
    if (plan.strides[k][d] * size % alignment != 0) return false;
  return true;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ROW_WALK_H_
