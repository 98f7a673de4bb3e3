// Rows that are looked at several times. A row is shared by a few threads, a warp or a block, as
// its length asks for, and short enough ones stay in their registers; longer ones are read again.
#ifndef DL_KERNELS_GPU_HELD_ROWS_H_
#define DL_KERNELS_GPU_HELD_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

// How many elements of float a thread may keep, as elements of C: few of double, whose rows are
// rare and whose functions are long.
template <class C>
constexpr int held_elements(int floats) {
  return sizeof(C) == sizeof(float) ? floats : 4;
}

struct RowCut {
  int64_t count, n;
  int lanes;     // threads of a row
  bool vectors;  // every row begins at the place of a vector and ends with one
  bool held;     // rows fit into registers
};

// `kHeld` elements of each thread are in registers. `aligned`: rows may be read in vectors.
template <class T, int kHeld>
RowCut row_cut(int64_t count, int64_t n, bool aligned) {
  constexpr int kWide = kVector<T>;
  RowCut cut{count, n, kThreads, aligned && n % kWide == 0, n <= int64_t(kHeld) * kThreads};
  if (n <= kHeld * kLeastWarp) cut.lanes = power_of_two((n + kWide - 1) / kWide, kLeastWarp);
  return cut;
}

template <class Row>
DL_KERNEL void held_rows_kernel(RowCut cut, Row row) {
  DL_SHARED BlockScratch scratch;
  const Block team(&scratch, cut.lanes);
  const int64_t teams = kThreads / cut.lanes;
  for (int64_t first = block_index() * teams; first < cut.count; first += block_count() * teams) {
    // Teams of a warp stay together: one without a row takes the last one, as if it was empty.
    const int64_t own = first + thread_index() / cut.lanes;
    const bool live = own < cut.count;
    RowCut mine = cut;
    if (!live) mine.n = 0;
    row(team, mine, live ? own : cut.count - 1, live);
  }
}

// Calls row(team, cut, number of the row, whether there is one). A functor without references.
template <class Row>
void run_held_rows(const Launch& launch, const RowCut& cut, const Row& row) {
  if (cut.count <= 0 || cut.n <= 0) return;
  constexpr int64_t kMost = 1 << 20;
  const int64_t teams = kThreads / cut.lanes, blocks = (cut.count + teams - 1) / teams;
  run_blocks(launch.stream(), blocks < kMost ? blocks : kMost, held_rows_kernel<Row>, cut, row);
}

// A thread takes a row in groups of kWide elements: vectors where the row has them, otherwise
// single elements that are as far apart as there are threads, so that loads of a warp are of
// neighbours.
template <int kWide>
struct Groups {
  const Block& team;
  const RowCut& cut;

  // The place of element j of group v in the row, which may lie behind its end. In the type of v:
  // where few groups are kept, places have 32 bits.
  template <class V>
  DL_DEVICE V place(V v, int j) const {
    const V lanes = team.lanes(), lane = team.lane();
    return cut.vectors ? (v * lanes + lane) * kWide + j : (v * kWide + j) * lanes + lane;
  }
  template <class V>
  DL_DEVICE bool has(V v, int j) const {
    return place(v, j) < static_cast<V>(cut.n);
  }

  // Elements `step` apart; `to` stays as it is where the row has ended.
  template <class V, class C, class T>
  DL_DEVICE void load(const T* row, int64_t step, V v, C (&to)[kWide]) const {
    const V first = place(v, 0);
    if (cut.vectors) {
      if (first < static_cast<V>(cut.n)) load_vector(row + first, to);
      return;
    }
    const T* from = row + first * step;
    const int64_t next = team.lanes() * step;
    const V left = static_cast<V>(cut.n) - first;
    DL_UNROLL
    for (int j = 0; j < kWide; ++j, from += next) {
      if (j * team.lanes() < left) to[j] = cast<C>(*from);
    }
  }

  template <class V, class T, class C>
  DL_DEVICE void store(T* row, int64_t step, V v, const C (&from)[kWide]) const {
    const V first = place(v, 0);
    if (cut.vectors) {
      if (first < static_cast<V>(cut.n)) store_vector(row + first, from);
      return;
    }
    T* to = row + first * step;
    const int64_t next = team.lanes() * step;
    const V left = static_cast<V>(cut.n) - first;
    DL_UNROLL
    for (int j = 0; j < kWide; ++j, to += next) {
      if (j * team.lanes() < left) *to = cast<T>(from[j]);
    }
  }

  // Calls f(v) for every group, of which there are at most kMost. All threads of a team have the
  // same number.
  template <int kMost, class F>
  DL_DEVICE void few(const F& f) const {
    const int round = team.lanes() * kWide, n = static_cast<int>(cut.n);
    DL_UNROLL
    for (int v = 0; v < kMost; ++v) {
      if (v * round >= n) break;
      f(v);
    }
  }

  template <class F>
  DL_DEVICE void all(const F& f) const {
    const int64_t round = int64_t(team.lanes()) * kWide, count = (cut.n + round - 1) / round;
    DL_NO_UNROLL
    for (int64_t v = 0; v < count; ++v) f(v);
  }
};

template <class C, int N>
DL_DEVICE void fill(C (&x)[N], C value) {
  DL_UNROLL
  for (int j = 0; j < N; ++j) x[j] = value;
}

// Sums of a thread, in pieces whose results meet in double.
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
DL_DEVICE C sum_of_team(const Block& team, C mine) {
  return team.together(mine, [](C a, C b) { return a + b; });
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

#endif  // DL_KERNELS_GPU_HELD_ROWS_H_
