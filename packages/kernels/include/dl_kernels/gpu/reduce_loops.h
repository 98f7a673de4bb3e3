// GPU loops of reduce/reduce.h. If adjacent outputs are adjacent in the input, this is a column
// reduction; otherwise an output is shared by as many threads as its length calls for. A few
// outputs of many elements are divided into ranges whose results a second pass combines in order.
#ifndef DL_KERNELS_GPU_REDUCE_LOOPS_H_
#define DL_KERNELS_GPU_REDUCE_LOOPS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/reduce_columns.h"
#include "dl_kernels/gpu/reduce_rows.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int64_t kBusyThreads = 1 << 17;  // threads that keep a whole GPU busy
inline constexpr int64_t kMostBlocks = 1 << 20;

// Return the number of ranges for an output of `count` elements, so that `threads` are busy with at
// least `least` elements each, and no thread adds more elements than a float sums accurately.
inline int64_t ranges_of(int64_t count, int64_t threads, int64_t lanes, int64_t least) {
  constexpr int64_t kMost = 4096;
  const int64_t wanted = (kBusyThreads + threads - 1) / threads;
  const int64_t useful = count / (least * lanes), needed = (count - 1) / (kMost * lanes) + 1;
  const int64_t ranges = wanted < useful ? wanted : useful;
  return ranges > needed ? ranges : needed;
}

// Column reduction: the reduced dimensions are strided, and a kept one is contiguous.
template <class I>
bool reduces_columns(const ReducePlan& plan) {
  const int inner = plan.kept.ndim - 1;
  return plan.reduced.numel > 1 && plan.kept.strides[1][inner] == 1 && plan.kept.shape[inner] > 1 &&
         plan.kept.shape[inner] >= kVector<I> &&
         plan.reduced.strides[0][plan.reduced.ndim - 1] != 1;
}

template <class I>
ColumnPartition column_partition(const ReducePlan& plan, const I* from) {
  constexpr int kWide = kColumnVector<I>;
  const Plan<2>& kept = plan.kept;
  ColumnPartition partition{};
  partition.columns = kept.shape[kept.ndim - 1];
  partition.lanes = power_of_two((partition.columns + kWide - 1) / kWide, kLeastWarp);
  partition.blocks = (partition.columns + partition.lanes * kWide - 1) / (partition.lanes * kWide);
  partition.vectors = is_aligned(from, kWide);
  for (int d = 0; d < kept.ndim - 1; ++d) partition.vectors &= kept.strides[1][d] % kWide == 0;
  for (int d = 0; d < plan.reduced.ndim; ++d)
    partition.vectors &= plan.reduced.strides[0][d] % kWide == 0;
  return partition;
}

// Divide rows into vectors if segments are contiguous and long enough, otherwise into single
// elements.
template <class I, class R>
int partition_rows(const ReducePlan& plan, Reduction<I, R>& job) {
  constexpr int64_t kPiece = 1 << 16, kLeast = 16;
  const int inner = plan.reduced.ndim - 1;
  const int64_t count = plan.reduced.numel, length = plan.reduced.shape[inner];
  if (count == 0) {
    job.pieces = 0;
    return 1;
  }
  const bool adjacent =
      plan.reduced.strides[0][inner] == 1 && (plan.reduced.ndim == 1 || length >= kLeast);
  job.segment = adjacent ? length : 0;
  const int64_t vectors =
      (adjacent ? length + kVector<I> - 1 : count) / (adjacent ? kVector<I> : 8);
  // One warp for up to eight vectors per thread, otherwise the block.
  const int lanes = vectors > 8 * kLeastWarp ? kThreads : power_of_two(vectors, kLeastWarp);
  const int64_t threads = plan.kept.numel * lanes;
  job.ranges = ranges_of(count, threads, lanes, 8 * kVector<I>);
  if (!adjacent) {
    job.pieces = count;
  } else {
    const int64_t share = (count + job.ranges - 1) / job.ranges;
    job.piece = share < length ? (share + kVector<I> - 1) / kVector<I> * kVector<I> : length;
    job.piece = job.piece < kPiece ? job.piece : kPiece;
    job.pieces = count / length * ((length + job.piece - 1) / job.piece);
  }
  job.in_range = (job.pieces + job.ranges - 1) / job.ranges;
  job.ranges = (job.pieces + job.in_range - 1) / job.in_range;
  return lanes;
}

}  // namespace gpu

template <class I, class R>
void run_reduce(const Launch& launch, const R& r, const ReducePlan& plan, const I* from,
                const Store<typename R::Acc>& store) {
  const int64_t outputs = plan.kept.numel, count = plan.reduced.numel;
  gpu::Reduction<I, R> job{r, from, plan.kept, plan.reduced, store, 1, nullptr, 0, 1, 0, 1};
  Workspace<typename R::Wide> parts;
  const auto launched = [&](int64_t blocks, auto kernel, const auto& partition) {
    if (job.ranges > 1) job.parts = parts.reserve(launch, outputs * job.ranges);
    gpu::run_blocks(launch.stream(), blocks < gpu::kMostBlocks ? blocks : gpu::kMostBlocks, kernel,
                    job, partition);
  };
  if (gpu::reduces_columns<I>(plan)) {
    gpu::ColumnPartition partition = gpu::column_partition(plan, from);
    const int64_t tasks = outputs / partition.columns * partition.blocks,
                  lines = gpu::kThreads / partition.lanes;
    job.ranges = gpu::ranges_of(count, tasks * gpu::kThreads, lines, 16);
    partition.rows = (count + job.ranges - 1) / job.ranges;
    job.ranges = (count + partition.rows - 1) / partition.rows;
    launched(tasks * job.ranges, gpu::reduce_columns_kernel<I, R>, partition);
  } else {
    const int lanes = gpu::partition_rows(plan, job);
    const int64_t teams = gpu::kThreads / lanes;
    launched((outputs * job.ranges + teams - 1) / teams, gpu::reduce_rows_kernel<I, R>, lanes);
  }
  if (job.ranges > 1)
    rows(launch, outputs, job.ranges,
         gpu::ReduceParts<R>{r, plan.kept, store, job.ranges, job.parts});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REDUCE_LOOPS_H_
