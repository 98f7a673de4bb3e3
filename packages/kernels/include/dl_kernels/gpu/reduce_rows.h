// GPU loops of a reduction along rows; reduce_loops.h chooses between them.
//
// A thread combines its elements in the type to which a reducer maps them, and the results of
// threads are combined as a tree. Only the pieces of a long reduction use the reducer's wide type.
#ifndef DL_KERNELS_GPU_REDUCE_ROWS_H_
#define DL_KERNELS_GPU_REDUCE_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/reduce_store.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// Partial result of a thread.
template <class I, class R>
using near_t = std::decay_t<decltype(R().map(compute_t<I>()))>;

// Trait of reducers that combine adjacent elements faster than one by one, such as MomentsReducer.
template <class R, class C, class = void>
struct CombinesAdjacent : std::false_type {};
template <class R, class C>
struct CombinesAdjacent<R, C, std::void_t<decltype(&R::template adjacent<4>)>> : std::true_type {};

template <class I, class R, int N>
DL_DEVICE near_t<I, R> fold(const R& r, const compute_t<I> (&x)[N]) {
  if constexpr (N == 1) {
    return r.map(x[0]);
  } else if constexpr (CombinesAdjacent<R, compute_t<I>>::value) {
    return r.template adjacent<N>(x);
  } else {
    near_t<I, R> mapped[N];
    DL_UNROLL
    for (int j = 0; j < N; ++j) mapped[j] = r.map(x[j]);
    DL_UNROLL
    for (int width = N / 2; width > 0; width /= 2) {
      DL_UNROLL
      for (int j = 0; j < width; ++j) mapped[j] = r.combine(mapped[j], mapped[j + width]);
    }
    return mapped[0];
  }
}

// A reduction that combines each output from `ranges` partial results. Partial result k belongs to
// output k % outputs.
template <class I, class R>
struct Reduction {
  R r;
  const I* from;
  Plan<2> kept;     // strides of output and input
  Plan<1> reduced;  // strides of the input
  Store<typename R::Acc> store;
  int64_t ranges;
  typename R::Wide* parts;  // null if there is one range
  // The reduced dimensions consist of contiguous segments of `segment` elements (0: strided
  // elements). Segments are split into pieces of `piece` elements; `in_range` pieces form a range.
  int64_t segment, piece, pieces, in_range;

  DL_DEVICE void put(int64_t output, int64_t range, int64_t offset, near_t<I, R> value) const {
    const auto wide = static_cast<typename R::Wide>(value);
    if (parts != nullptr) {
      parts[range * kept.numel + output] = wide;
    } else {
      store(offset, r.finish(wide));
    }
  }
};

// Combine n adjacent elements, beginning at `x`, into a thread's partial results.
template <class I, class R, int kAtOnce>
DL_DEVICE void reduce_adjacent(const R& r, const Block& team, const I* x, int n,
                               near_t<I, R> (&total)[kAtOnce]) {
  using C = compute_t<I>;
  constexpr int kWide = kVector<I>;
  const int lane = team.lane(), lanes = team.lanes();
  const int apart = static_cast<int>(reinterpret_cast<uintptr_t>(x) % kVectorBytes / sizeof(I));
  const int before = apart == 0 ? 0 : kWide - apart, head = before < n ? before : n;
  const int vectors = (n - head) / kWide;
  const I* body = x + head;
  int v = lane;
  for (; v + (kAtOnce - 1) * lanes < vectors; v += kAtOnce * lanes) {
    C loaded[kAtOnce][kWide];
    DL_UNROLL
    for (int u = 0; u < kAtOnce; ++u) load_vector(body + (v + u * lanes) * kWide, loaded[u]);
    DL_UNROLL
    for (int u = 0; u < kAtOnce; ++u) total[u] = r.combine(total[u], fold<I>(r, loaded[u]));
  }
  for (; v < vectors; v += lanes) {
    C loaded[kWide];
    load_vector(body + v * kWide, loaded);
    total[0] = r.combine(total[0], fold<I>(r, loaded));
  }
  // Elements before the first whole vector and after the last one.
  const int behind = n - vectors * kWide;
  for (int i = lane; i < behind; i += lanes) {
    const int at = i < head ? i : i + vectors * kWide;
    total[kAtOnce - 1] = r.combine(total[kAtOnce - 1], r.map(cast<C>(x[at])));
  }
}

// Combine elements begin … end - 1 of the reduced dimensions, with any strides.
template <class I, class R>
DL_DEVICE near_t<I, R> reduce_scattered(const Reduction<I, R>& job, const Block& team,
                                        const I* base, int64_t begin, int64_t end,
                                        near_t<I, R> total) {
  for (int64_t i = begin + team.lane(); i < end; i += team.lanes()) {
    int64_t offset[1];
    row_offsets(job.reduced, i, offset);
    total = job.r.combine(total, job.r.map(cast<compute_t<I>>(base[offset[0]])));
  }
  return total;
}

// `lanes` threads for each range of an output.
template <class I, class R>
DL_KERNEL void reduce_rows_kernel(Reduction<I, R> job, int lanes) {
  using Near = near_t<I, R>;
  constexpr int kAtOnce = sizeof(Near) > 8 ? 1 : 4;
  DL_SHARED BlockScratch scratch;
  const Block team(&scratch, lanes);
  const R& r = job.r;
  const int64_t teams = kThreads / lanes, rows = job.kept.numel * job.ranges;
  for (int64_t first = block_index() * teams; first < rows; first += block_count() * teams) {
    // The teams of a warp stay converged: a team without a row repeats the last one.
    const int64_t own = first + thread_index() / lanes, row = own < rows ? own : rows - 1;
    const int64_t range = job.ranges == 1 ? 0 : quotient_of(row, job.kept.numel);
    const int64_t output = row - range * job.kept.numel;
    int64_t offsets[2];
    row_offsets(job.kept, output, offsets);
    const I* base = job.from + offsets[1];
    Near total[kAtOnce];
    DL_UNROLL
    for (int u = 0; u < kAtOnce; ++u) total[u] = static_cast<Near>(r.start);
    const int64_t begin = range * job.in_range;
    const int64_t end = begin + job.in_range < job.pieces ? begin + job.in_range : job.pieces;
    if (job.segment == 0) {
      total[0] = reduce_scattered(job, team, base, begin, end, total[0]);
    } else {
      const int64_t in_segment = (job.segment + job.piece - 1) / job.piece;
      for (int64_t p = begin; p < end; ++p) {
        const int64_t s = in_segment == 1 ? p : quotient_of(p, in_segment);
        const int64_t at = (p - s * in_segment) * job.piece, left = job.segment - at;
        int64_t offset[1];
        row_offsets(job.reduced, s * job.segment, offset);
        reduce_adjacent<I>(r, team, base + offset[0] + at,
                           static_cast<int>(left < job.piece ? left : job.piece), total);
      }
    }
    DL_UNROLL
    for (int u = 1; u < kAtOnce; ++u) total[0] = r.combine(total[0], total[u]);
    const Near all = team.all_reduce(
        total[0], [&r](const Near& a, const Near& b) -> Near { return r.combine(a, b); });
    if (team.lane() == 0 && own < rows) job.put(output, range, offsets[0], all);
  }
}

// Combine the partial results of an output, in order.
template <class R>
struct ReduceParts {
  using Wide = typename R::Wide;
  R r;
  Plan<2> kept;
  Store<typename R::Acc> store;
  int64_t ranges;
  const Wide* parts;

  DL_DEVICE void operator()(const Block& block, int64_t output) const {
    const R& reducer = r;
    const Wide* from = parts + output;
    const int64_t outputs = kept.numel;
    const Wide all = block.reduce(
        ranges, static_cast<Wide>(r.start),
        [&reducer](const Wide& a, const Wide& b) -> Wide { return reducer.combine(a, b); },
        [=](int64_t k) { return from[k * outputs]; });
    if (block.lane() != 0) return;
    int64_t offsets[2];
    row_offsets(kept, output, offsets);
    store(offsets[0], r.finish(all));
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REDUCE_ROWS_H_
