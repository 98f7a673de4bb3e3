// GPU: how threads go through a plan, in numbers of 32 bits: rows along the innermost dimension,
// each taken by some neighbouring threads, and where a row begins in each operand. Plans that need
// more bits are cut into parts.
#ifndef DL_KERNELS_GPU_ROW_WALK_H_
#define DL_KERNELS_GPU_ROW_WALK_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/divider.h"
#include "dl_kernels/gpu/threads.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// Elements of a plan, and places of an operand, are below this in a launch.
inline constexpr int64_t kLargest = INT32_MAX;
// Of a launch: twice what a large card runs at once, so that a thread's own preparations are few.
inline constexpr int64_t kMostThreads = int64_t(1) << 19;

inline int64_t distance(int64_t extent, int64_t stride) {
  return (extent - 1) * (stride < 0 ? -stride : stride);
}

// Whether numbers of 32 bits are enough for a plan.
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

// Calls run(part, first) for parts of a plan that are small; `first` has the place in each operand
// where the part begins.
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
  uint32_t turns;    // that vectors take; what is left of a row goes element by element
  uint32_t groups;   // of threads: each takes every `groups`-th row
  Divider lanes;     // of a group
  int outer;         // dimensions beside the innermost one
  int32_t steps[N];  // along a row, in elements
  // Of the others, the innermost one first.
  Divider extents[kMaxDims - 1];
  int32_t strides[N][kMaxDims - 1];

  uint32_t threads() const { return groups * lanes.divisor(); }

  // Where a row begins in each operand, in elements.
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

// Of a small plan. A turn takes `in_turn` elements at once, or is not possible if that is 0.
template <int N>
RowWalk<N> make_row_walk(const Plan<N>& plan, int64_t in_turn) {
  RowWalk<N> walk{};
  const int inner = plan.ndim - 1;
  walk.length = static_cast<uint32_t>(plan.shape[inner]);
  walk.rows = static_cast<uint32_t>(plan.numel / plan.shape[inner]);
  walk.turns = in_turn > 0 ? walk.length / static_cast<uint32_t>(in_turn) : 0;
  walk.outer = inner;
  for (int k = 0; k < N; ++k) walk.steps[k] = static_cast<int32_t>(plan.strides[k][inner]);
  for (int d = 0; d < inner; ++d) {
    walk.extents[d] = Divider(static_cast<uint32_t>(plan.shape[inner - 1 - d]));
    for (int k = 0; k < N; ++k)
      walk.strides[k][d] = static_cast<int32_t>(plan.strides[k][inner - 1 - d]);
  }
  const int64_t work = walk.turns > 0 ? walk.turns : walk.length;
  const int64_t rounds = (work + kMostThreads - 1) / kMostThreads;
  const int64_t lanes = (work + rounds - 1) / rounds;
  const int64_t groups = kMostThreads / lanes;
  walk.lanes = Divider(static_cast<uint32_t>(lanes));
  walk.groups = static_cast<uint32_t>(groups < walk.rows ? groups : walk.rows);
  return walk;
}

// Whether an operand's rows can be read in vectors of `width` elements: it is dense along them, and
// every row begins at a multiple of `alignment` bytes.
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
