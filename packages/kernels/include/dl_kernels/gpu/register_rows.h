// Rows that are read in several passes. A row is processed by a few threads, a warp or a block,
// depending on its length; rows that fit are kept in registers, longer ones are read again.
#ifndef DL_KERNELS_GPU_REGISTER_ROWS_H_
#define DL_KERNELS_GPU_REGISTER_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

// Number of groups of kWide adjacent elements that a thread keeps in registers: few for single
// elements and for double, whose rows are rare and whose functions are long. Short rows, which
// belong to one segment of threads each, get more groups, because communication within a warp is
// much faster than within a block.
template <class C, int kWide, bool kShort>
constexpr int register_groups() {
  constexpr int kElements = sizeof(C) > sizeof(float) ? 4 : kWide == 1 ? 8 : kShort ? 32 : 16;
  return kElements / kWide;
}

struct RowPartition {
  int64_t count, n;
  int64_t share;      // elements per segment of threads that share a row
  int lanes;          // threads per row: up to a segment if it is short, otherwise a block
  bool vectors;       // every row begins at a vector boundary and consists of whole vectors
  bool in_registers;  // rows fit into registers
};

// Threads per segment of a row; a constant, so that a thread's groups have a constant stride.
inline constexpr int kSegment = kLeastWarp;
// Threads per segment for rows so narrow that most threads of a longer segment would be idle, and
// that are read element by element.
inline constexpr int kNarrowSegment = 8;

template <class C, int kWide>
RowPartition row_partition_of(int64_t count, int64_t n) {
  constexpr int kInRegisters = register_groups<C, kWide, false>() * kWide, kStep = kSegment * kWide;
  constexpr int kShort = register_groups<C, kWide, true>() * kWide * kSegment;
  RowPartition partition{count, n, n, kThreads, kWide > 1, n <= int64_t(kInRegisters) * kThreads};
  if (kWide == 1 && n <= register_groups<C, 1, true>() * kNarrowSegment) {
    partition.lanes = power_of_two(n, kNarrowSegment);
  } else if (n <= kShort) {
    partition.lanes = power_of_two((n + kWide - 1) / kWide, kSegment);
  } else {
    constexpr int64_t kRound = int64_t(kThreads) * kWide;
    partition.share = (n + kRound - 1) / kRound * kStep;
  }
  return partition;
}

// Divide `count` rows of n elements of T. `aligned`: rows begin aligned to vectors of kWide
// elements.
template <class T, int kWide>
RowPartition row_partition(int64_t count, int64_t n, bool aligned) {
  using C = compute_t<T>;
  return aligned && n % kWide == 0 ? row_partition_of<C, kWide>(count, n)
                                   : row_partition_of<C, 1>(count, n);
}

// Index of a thread's group: `behind` groups after the first one of an iteration; the groups of an
// iteration share its address computation.
struct GroupNumber {
  int64_t iteration;
  int behind;
};

// A thread's part of a row: groups of kWide adjacent elements, in segments of kLanes threads.
// Strides other than 1 require kWide = 1.
template <int kWide, int kLanes>
class Groups {
 public:
  DL_DEVICE Groups(const Block& team, const RowPartition& partition, bool live) {
    const int segment = team.lane() / kLanes, lane = team.lane() % kLanes;
    const int64_t begin = segment * partition.share, rest = partition.n - begin;
    const int64_t left = (rest < partition.share ? rest : partition.share) - lane * kWide;
    first_ = begin + lane * kWide;
    count_ = live && left > 0 ? static_cast<int>((left + kStep - 1) / kStep) : 0;
  }

  // Index in the row at which group v begins.
  DL_DEVICE int64_t index(GroupNumber v) const { return first_ + (v.iteration + v.behind) * kStep; }
  // Address of the thread's first group, if it has any; `load` and `store` are relative to it. The
  // select also keeps compilers from recomputing addresses from the beginning of the row.
  template <class T>
  DL_DEVICE T* begin(T* row, int64_t step) const {
    return count_ > 0 ? row + first_ * step : nullptr;
  }

  template <class C, class T>
  DL_DEVICE static void load(const T* begin, int64_t step, GroupNumber v, C (&to)[kWide]) {
    if constexpr (kWide > 1) {
      load_vector(begin + v.iteration * kStep + v.behind * kStep, to);
    } else {
      to[0] = cast<C>(begin[(v.iteration + v.behind) * (kStep * step)]);
    }
  }

  template <class T, class C>
  DL_DEVICE static void store(T* begin, int64_t step, GroupNumber v, const C (&from)[kWide]) {
    if constexpr (kWide > 1) {
      store_vector(begin + v.iteration * kStep + v.behind * kStep, from);
    } else {
      begin[(v.iteration + v.behind) * (kStep * step)] = cast<T>(from[0]);
    }
  }

  // Call f(v, group) for every group, of which there are at most kMost.
  template <int kMost, class F>
  DL_DEVICE void for_each_unrolled(const F& f) const {
    DL_UNROLL
    for (int v = 0; v < kMost; ++v) {
      if (v >= count_) break;
      f(v, GroupNumber{0, v});
    }
  }

  // Call load(group, x) and then use(group, x) for every group, with overlapping loads.
  template <class X, class Load, class Use>
  DL_DEVICE void for_each(const Load& load, const Use& use) const {
    constexpr int kAtOnce = 2;
    const int whole = count_ / kAtOnce * kAtOnce;
    int v = 0;
    DL_NO_UNROLL
    for (; v < whole; v += kAtOnce) {
      X some[kAtOnce];
      DL_UNROLL
      for (int u = 0; u < kAtOnce; ++u) load(GroupNumber{v, u}, some[u]);
      DL_UNROLL
      for (int u = 0; u < kAtOnce; ++u) use(GroupNumber{v, u}, some[u]);
    }
    if (v < count_) {
      X last;
      load(GroupNumber{v, 0}, last);
      use(GroupNumber{v, 0}, last);
    }
  }

 private:
  static constexpr int kStep = kLanes * kWide;
  int64_t first_;
  int count_;
};

// Threads that share a row.
enum class RowOf { narrow_segment, segment, block };

template <RowOf kOf, int kWide, class Row>
DL_DEVICE void process_row(const Block& team, const RowPartition& partition, const Row& row,
                           int64_t number, bool live) {
  constexpr int kLanes = kOf == RowOf::narrow_segment ? kNarrowSegment : kSegment;
  const Groups<kWide, kLanes> groups(team, partition, live);
  const auto part = row.open(groups, number);
  constexpr bool kShort = kOf != RowOf::block;
  if (kShort || partition.in_registers) {
    row.template process_in_registers<kShort>(team, groups, part, live);
  } else {
    row.process_long(team, groups, part, live);
  }
}

template <class Row, RowOf kOf>
DL_KERNEL_FOR_BLOCKS(2)
void register_rows_kernel(RowPartition partition, Row row) {
  DL_SHARED BlockScratch scratch;
  const Block team(&scratch, partition.lanes);
  const int64_t teams = kThreads / partition.lanes;
  for (int64_t first = block_index() * teams; first < partition.count;
       first += block_count() * teams) {
    // The teams of a warp stay converged: a team without a row repeats the last one, with no
    // elements.
    const int64_t own = first + thread_index() / partition.lanes;
    const bool live = own < partition.count;
    const int64_t number = live ? own : partition.count - 1;
    if (kOf != RowOf::narrow_segment && partition.vectors) {
      process_row<kOf, Row::kWide>(team, partition, row, number, live);
    } else {
      process_row<kOf, 1>(team, partition, row, number, live);
    }
  }
}

// For each row, call row.open(groups, number) and pass its result `part` to
// row.process_in_registers<is_short>(team, groups, place, live) if the row fits into registers,
// else to process_long; `live` is false if there is no row. `row` is a functor without references.
template <class Row>
void run_register_rows(const Launch& launch, const RowPartition& partition, const Row& row) {
  if (partition.count <= 0 || partition.n <= 0) return;
  constexpr int64_t kMost = 1 << 20;
  const int64_t teams = kThreads / partition.lanes, blocks = (partition.count + teams - 1) / teams;
  const bool narrow = !partition.vectors && partition.lanes <= kNarrowSegment;
  run_blocks(launch.stream(), blocks < kMost ? blocks : kMost,
             narrow                        ? register_rows_kernel<Row, RowOf::narrow_segment>
             : partition.lanes <= kSegment ? register_rows_kernel<Row, RowOf::segment>
                                           : register_rows_kernel<Row, RowOf::block>,
             partition, row);
}

// Sums of a thread, in pieces that are added in double.
template <class C>
class LongSum {
 public:
  DL_DEVICE void add(C value) {
    piece_ += value;
    if (++count_ == kPiece) close();
  }
  DL_DEVICE C total() {
    close();
    return static_cast<C>(all_);
  }

 private:
  static constexpr int kPiece = 32;
  DL_DEVICE void close() {
    all_ += static_cast<double>(piece_);
    piece_ = 0;
    count_ = 0;
  }
  C piece_ = 0;
  double all_ = 0;
  int count_ = 0;
};

template <class C>
DL_DEVICE C sum_of_lanes(const Block& team, C mine) {
  return team.all_reduce(mine, [](C a, C b) { return a + b; });
}

template <class C, int N>
DL_DEVICE C sum_of(const C (&x)[N]) {
  C sums[N];
  DL_UNROLL
  for (int j = 0; j < N; ++j) sums[j] = x[j];
  DL_UNROLL
  for (int width = N / 2; width > 0; width /= 2) {
    DL_UNROLL
    for (int j = 0; j < width; ++j) sums[j] += sums[j + width];
  }
  return sums[0];
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REGISTER_ROWS_H_
