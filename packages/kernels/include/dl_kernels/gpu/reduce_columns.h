// GPU loop of a column reduction: adjacent outputs are adjacent in the input, and consecutive
// threads read consecutive columns.
#ifndef DL_KERNELS_GPU_REDUCE_COLUMNS_H_
#define DL_KERNELS_GPU_REDUCE_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/reduce_rows.h"
#include "dl_kernels/gpu/row_vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

// Adjacent elements per thread.
template <class I>
inline constexpr int kColumnVector = kVector<I> < 8 ? kVector<I> : 8;

// A block processes `lanes` vectors of adjacent outputs and several of their rows at a time.
struct ColumnPartition {
  int lanes;
  int64_t columns;  // number of adjacent outputs
  int64_t blocks;   // blocks that share them
  int64_t rows;     // rows per range
  bool vectors;     // every row is aligned to vectors
};

template <class Near, int kWide>
struct alignas(16) ColumnScratch {
  unsigned char bytes[sizeof(Near) * kWide * kThreads];
};

// Reduce the columns beginning with `base`; a thread processes every lines-th row.
template <class I, class R, int kWide>
DL_DEVICE void add_rows(const Reduction<I, R>& job, const I* base, int width, bool whole,
                        int64_t begin, int64_t end, int lines, near_t<I, R> (&total)[kWide]) {
  using C = compute_t<I>;
  constexpr int kAtOnce = 4;
  const R& r = job.r;
  int64_t i = begin;
  if (whole && job.reduced.ndim == 1) {
    const int64_t row = job.reduced.strides[0][0];
    for (; i + (kAtOnce - 1) * lines < end; i += kAtOnce * lines) {
      C loaded[kAtOnce][kWide];
      DL_UNROLL
      for (int u = 0; u < kAtOnce; ++u) load_vector(base + (i + u * lines) * row, loaded[u]);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        const C down[kAtOnce] = {loaded[0][j], loaded[1][j], loaded[2][j], loaded[3][j]};
        total[j] = r.combine(total[j], fold<I>(r, down));
      }
    }
  }
  DL_NO_UNROLL
  for (; i < end; i += lines) {
    int64_t offset[1];
    row_offsets(job.reduced, i, offset);
    C loaded[kWide] = {};
    load_some(base + offset[0], whole, width, loaded);
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) total[j] = r.combine(total[j], r.map(loaded[j]));
  }
}

template <class I, class R>
DL_KERNEL void reduce_columns_kernel(Reduction<I, R> job, ColumnPartition partition) {
  using Near = near_t<I, R>;
  constexpr int kWide = kColumnVector<I>;
  DL_SHARED ColumnScratch<Near, kWide> scratch;
  Near* const shared = reinterpret_cast<Near*>(scratch.bytes);
  const R& r = job.r;
  const int me = thread_index(), lane = me & (partition.lanes - 1), line = me / partition.lanes;
  const int lines = kThreads / partition.lanes;
  const int64_t tasks = job.kept.numel / partition.columns * partition.blocks;
  for (int64_t item = block_index(); item < tasks * job.ranges; item += block_count()) {
    const int64_t range = quotient_of(item, tasks), task = item - range * tasks;
    const int64_t outer = quotient_of(task, partition.blocks);
    const int64_t first = (task - outer * partition.blocks) * partition.lanes * kWide;
    const int64_t column = first + lane * kWide, left = partition.columns - column;
    const int width = static_cast<int>(left < 0 ? 0 : left < kWide ? left : kWide);
    Near total[kWide];
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) total[j] = static_cast<Near>(r.start);
    if (width > 0) {
      int64_t offsets[2];
      row_offsets(job.kept, outer * partition.columns + column, offsets);
      const int64_t begin = range * partition.rows, count = job.reduced.numel;
      const int64_t end = begin + partition.rows < count ? begin + partition.rows : count;
      add_rows(job, job.from + offsets[1], width, partition.vectors && width == kWide, begin + line,
               end, lines, total);
    }
    barrier();  // other threads may still read the shared memory
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) shared[j * kThreads + me] = total[j];
    for (int half = lines / 2; half > 0; half /= 2) {
      barrier();
      if (line >= half) continue;
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        total[j] = r.combine(total[j], shared[j * kThreads + me + half * partition.lanes]);
        shared[j * kThreads + me] = total[j];
      }
    }
    barrier();
    // Adjacent threads store adjacent outputs.
    DL_NO_UNROLL
    for (int c = me; c < partition.lanes * kWide && first + c < partition.columns; c += kThreads) {
      const int64_t output = outer * partition.columns + first + c;
      int64_t offsets[2];
      row_offsets(job.kept, output, offsets);
      job.put(output, range, offsets[0], shared[c % kWide * kThreads + c / kWide]);
    }
  }
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REDUCE_COLUMNS_H_
