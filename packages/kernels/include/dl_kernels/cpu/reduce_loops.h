// CPU loops of reduce/reduce.h: along rows if the reduced elements are adjacent, otherwise a
// column reduction of many adjacent outputs at once.
#ifndef DL_KERNELS_CPU_REDUCE_LOOPS_H_
#define DL_KERNELS_CPU_REDUCE_LOOPS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/gather.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/transpose.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

template <class O, class Acc>
void store_as(void* data, int64_t offset, Acc value) {
  static_cast<O*>(data)[offset] = cast<O>(value);
}

// Destination of results. One call per result keeps the output's dtype out of the loops.
template <class Acc>
struct Store {
  void* data;
  void (*write)(void* data, int64_t offset, Acc value);
  void operator()(int64_t offset, Acc value) const { write(data, offset, value); }

  template <class O>
  void set() {
    write = store_as<O, Acc>;
  }
};

namespace detail {

inline constexpr int64_t kPiece = 4096;  // elements whose sum is kept in Acc
inline constexpr int64_t kRange =
    1 << 16;  // elements reduced by one thread at a time when one output has many
inline constexpr int64_t kColumns = 128;     // adjacent outputs reduced together
inline constexpr int64_t kColumnRows = 256;  // rows whose column sums are kept in Acc
inline constexpr int64_t kPieceRows = 64;    // rows that a reducer processes as a whole
// Up to this length, combining a row's partial results costs more than reading the row.
inline constexpr int64_t kShortRow = 64;

// Trait of reducers that process pieces of adjacent elements as a whole, such as MomentsReducer.
template <class R, class = void>
struct ReducesWholePieces : std::false_type {};
template <class R>
struct ReducesWholePieces<R, std::void_t<typename R::WholePieces>> : std::true_type {};

// The same along rows only, as in MaxReducer.
template <class R, class C, class = void>
struct HasRowPieces : std::false_type {};
template <class R, class C>
struct HasRowPieces<R, C, std::void_t<decltype(&R::template row_piece<C>)>> : std::true_type {};

// Trait of floating-point reducers that combine long results in double, which does not overflow
// even if the sum of a piece would.
template <class R>
inline constexpr bool kWidens =
    std::is_same_v<typename R::Acc, float> && std::is_same_v<typename R::Wide, double>;

// Trait of reducers of powers, whose sums in Acc may overflow or underflow: is_exact detects this,
// and exact_sum repeats the sum of magnitudes in double.
template <class R, class = void>
struct ChecksRange : std::false_type {};
template <class R>
struct ChecksRange<R, std::void_t<decltype(&R::is_exact)>> : std::true_type {};

template <class C, class T, class R>
__attribute__((noinline)) typename R::Wide exact_piece(const R& r, const T* from, int64_t n) {
  return r.exact_sum(Block(), n,
                     [=](int64_t i) { return std::fabs(static_cast<double>(cast<C>(from[i]))); });
}

template <class C, class T, class R>
__attribute__((noinline)) auto reduce_piece(const R& r, const T* from, int64_t n) {
  if constexpr (ReducesWholePieces<R>::value) {
    return r.piece(Block(), from, n);
  } else if constexpr (HasRowPieces<R, T>::value) {
    return r.row_piece(from, n);
  } else {
    using Wide = typename R::Wide;
    const auto combine = [&](auto a, auto b) { return r.combine(a, b); };
    const auto load = [&](int64_t i) { return r.map(cast<C>(from[i])); };
    const auto total = Block().reduce(n, r.start, combine, load);
    if constexpr (ChecksRange<R>::value) {
      return r.is_exact(total) ? static_cast<Wide>(total) : exact_piece<C>(r, from, n);
    } else if constexpr (kWidens<R>) {
      if (std::isfinite(total)) return static_cast<Wide>(total);
      return Block().reduce(n, static_cast<Wide>(r.start), combine,
                            [&](int64_t i) { return static_cast<Wide>(load(i)); });
    } else {
      return total;
    }
  }
}

template <class I, class R>
typename R::Wide reduce_line(const R& r, const I* from, int64_t step, int64_t n) {
  using C = compute_t<I>;
  using Wide = typename R::Wide;
  Wide total = r.start;
  // Half is converted by instructions that need a buffer.
  if constexpr (!std::is_same_v<I, Half> && !(kIsHalf<I> && ReducesWholePieces<R>::value)) {
    if (step == 1) {
      for (int64_t begin = 0; begin < n; begin += kPiece) {
        const int64_t count = n - begin < kPiece ? n - begin : kPiece;
        total = r.combine(total, static_cast<Wide>(reduce_piece<C>(r, from + begin, count)));
      }
      return total;
    }
  }
  alignas(64) C buffer[kChunk];
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = n - begin < kChunk ? n - begin : kChunk;
    gather(buffer, from + begin * step, step, count);
    total = r.combine(total,
                      static_cast<Wide>(reduce_piece<C>(r, static_cast<const C*>(buffer), count)));
  }
  return total;
}

// Reduce elements begin…end-1 of the reduced dimensions, for one output.
template <class I, class R>
__attribute__((noinline)) typename R::Wide reduce_range(const R& r, const Plan<1>& reduced,
                                                        const I* from, int64_t begin, int64_t end) {
  using Wide = typename R::Wide;
  const int inner = reduced.ndim - 1;
  const int64_t width = reduced.shape[inner], step = reduced.strides[0][inner];
  Wide total = r.start;
  for (int64_t i = begin; i < end;) {
    int64_t offset[1];
    offsets_of(reduced, i, offset);
    const int64_t left = width - i % width;
    const int64_t n = end - i < left ? end - i : left;
    total = r.combine(total, reduce_line(r, from + offset[0], step, n));
    i += n;
  }
  return total;
}

template <class I, class R>
void reduce_rows(const Launch& launch, const R& r, const ReducePlan& plan, const I* from,
                 const Store<typename R::Acc>& store) {
  using Wide = typename R::Wide;
  const int64_t count = plan.reduced.numel;
  const int64_t ranges = (count + kRange - 1) / kRange;
  if (ranges > 1 && plan.kept.numel < 16) {
    const Workspace<Wide> parts(launch, ranges);
    for (int64_t o = 0; o < plan.kept.numel; ++o) {
      int64_t offsets[2];
      offsets_of(plan.kept, o, offsets);
      launch.parallel_for(ranges, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const int64_t last = (k + 1) * kRange < count ? (k + 1) * kRange : count;
          parts.data()[k] = reduce_range(r, plan.reduced, from + offsets[1], k * kRange, last);
        }
      });
      Wide total = r.start;
      for (int64_t k = 0; k < ranges; ++k) total = r.combine(total, parts.data()[k]);
      store(offsets[0], r.finish(total));
    }
    return;
  }
  const bool one_line = plan.reduced.ndim == 1;
  const int64_t step = plan.reduced.strides[0][0];
  launch.parallel_for(plan.kept.numel, grain_for(count), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      int64_t offsets[2];
      if (one_line) {
        offsets_of(plan.kept, o, offsets);
        store(offsets[0], r.finish(reduce_line(r, from + offsets[1], step, count)));
        continue;
      }
      offsets_of(plan.kept, o, offsets);
      store(offsets[0], r.finish(reduce_range(r, plan.reduced, from + offsets[1], 0, count)));
    }
  });
}

// The same for reducers that process whole pieces: one piece of each column.
template <class I, class R>
__attribute__((noinline)) void reduce_column_pieces(const R& r, const Plan<1>& reduced,
                                                    const I* from, int64_t width, int64_t begin,
                                                    int64_t end, typename R::Wide* total) {
  using C = compute_t<I>;
  alignas(64) C rows[kPieceRows * kColumns];
  for (int64_t first = begin; first < end; first += kPieceRows) {
    const int64_t n = end - first < kPieceRows ? end - first : kPieceRows;
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset[1];
      offsets_of(reduced, first + i, offset);
      load_dense(rows + i * kColumns, from + offset[0], width);
    }
    r.template column_pieces<kColumns>(static_cast<const C*>(rows), width, n, total);
  }
}

// Reduce elements begin…end-1 of one column.
template <class I, class R>
__attribute__((noinline)) double column_in_double(const R& r, const Plan<1>& reduced, const I* from,
                                                  int64_t begin, int64_t end) {
  double total = static_cast<double>(r.start);
  for (int64_t i = begin; i < end; ++i) {
    int64_t offset[1];
    offsets_of(reduced, i, offset);
    total = r.combine(total, static_cast<double>(r.map(cast<compute_t<I>>(from[offset[0]]))));
  }
  return total;
}

// The same for `width` columns of a reducer of powers, some of whose sums in `acc` are not exact.
// Columns of zeros are common, and exact.
template <class I, class R>
__attribute__((noinline)) void add_exact_columns(const R& r, const Plan<1>& reduced, const I* from,
                                                 int64_t width, int64_t begin, int64_t end,
                                                 const typename R::Acc* acc,
                                                 typename R::Wide* total) {
  using Wide = typename R::Wide;
  int32_t zero[kColumns];
  for (int64_t j = 0; j < width; ++j) zero[j] = 1;
  for (int64_t i = begin; i < end; ++i) {
    int64_t offset[1];
    offsets_of(reduced, i, offset);
    const I* at = from + offset[0];
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) zero[j] &= cast<compute_t<I>>(at[j]) == 0;
  }
  for (int64_t j = 0; j < width; ++j) {
    const bool exact = r.is_exact(acc[j]) || (zero[j] != 0 && acc[j] == 0);
    const Wide part =
        exact ? static_cast<Wide>(acc[j]) : r.exact_sum(Block(), end - begin, [&](int64_t i) {
          int64_t offset[1];
          offsets_of(reduced, begin + i, offset);
          const auto x = cast<compute_t<I>>(from[offset[0] + j]);
          return std::fabs(static_cast<double>(x));
        });
    total[j] = r.combine(total[j], part);
  }
}

// Add rows begin…end-1 to `total`, for `width` adjacent columns.
template <class I, class R>
__attribute__((noinline)) void reduce_columns_part(const R& r, const Plan<1>& reduced,
                                                   const I* from, int64_t width, int64_t begin,
                                                   int64_t end, typename R::Wide* total) {
  using Acc = typename R::Acc;
  using Wide = typename R::Wide;
  alignas(64) Acc acc[kColumns];
  for (int64_t first = begin; first < end; first += kColumnRows) {
    const int64_t last = first + kColumnRows < end ? first + kColumnRows : end;
    for (int64_t j = 0; j < kColumns; ++j) acc[j] = r.start;
    for (int64_t i = first; i < last; ++i) {
      int64_t offset[1];
      offsets_of(reduced, i, offset);
      const I* at = from + offset[0];
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < width; ++j)
        acc[j] = r.combine(acc[j], r.map(cast<compute_t<I>>(at[j])));
    }
    if constexpr (ChecksRange<R>::value) {
      int32_t inexact = 0;
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < width; ++j) inexact |= !r.is_exact(acc[j]);
      if (inexact != 0) {
        add_exact_columns(r, reduced, from, width, first, last, acc, total);
        continue;
      }
    } else if constexpr (kWidens<R>) {
      int32_t spoiled = 0;
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < kColumns; ++j) spoiled |= !std::isfinite(acc[j]);
      if (spoiled != 0) {
        for (int64_t j = 0; j < width; ++j) {
          const Wide part = std::isfinite(acc[j])
                                ? static_cast<Wide>(acc[j])
                                : column_in_double<I>(r, reduced, from + j, first, last);
          total[j] = r.combine(total[j], part);
        }
        continue;
      }
    }
    for (int64_t j = 0; j < width; ++j) total[j] = r.combine(total[j], static_cast<Wide>(acc[j]));
  }
}

// Column reduction: adjacent outputs are adjacent in the input, or rows are so short that a tile of
// them is transposed across the lanes first.
template <class I, class R>
void reduce_columns(const Launch& launch, const R& r, const ReducePlan& plan, const I* from,
                    const Store<typename R::Acc>& store) {
  using Wide = typename R::Wide;
  const Plan<2>& kept = plan.kept;
  const int inner = kept.ndim - 1;
  const int64_t columns = kept.shape[inner], count = plan.reduced.numel;
  const bool short_rows = kept.strides[1][inner] != 1;
  Plan<1> across = plan.reduced;
  if (short_rows) across.strides[0][0] = kColumns;
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const int64_t tasks = kept.numel / columns * blocks;
  // A few outputs with many rows are divided among threads by rows too.
  const int64_t work = count * (columns < kColumns ? columns : kColumns);
  int64_t ranges = tasks < 16 && !short_rows ? work / kRange : 1;
  ranges = ranges < 1 ? 1 : ranges > 64 ? 64 : ranges;
  const int64_t range = (count + ranges - 1) / ranges;
  const auto first_of = [&](int64_t task, int64_t (&offsets)[2], int64_t* width) {
    const int64_t column = task % blocks * kColumns;
    offsets_of(kept, task / blocks * columns + column, offsets);
    *width = columns - column < kColumns ? columns - column : kColumns;
  };
  const auto add = [&](const I* at, int64_t width, int64_t start, int64_t stop, Wide* total) {
    alignas(64) I tile[kShortRow * kColumns];
    if (short_rows) {
      transpose_tile(sizeof(I), tile, kColumns, at, kept.strides[1][inner], count, width);
      at = tile;
    }
    for (int64_t j = 0; j < kColumns; ++j) total[j] = r.start;
    if constexpr (ReducesWholePieces<R>::value) {
      reduce_column_pieces(r, across, at, width, start, stop, total);
    } else {
      reduce_columns_part(r, across, at, width, start, stop, total);
    }
  };
  const auto finish = [&](const Wide* total, int64_t offset, int64_t width) {
    for (int64_t j = 0; j < width; ++j)
      store(offset + j * kept.strides[0][inner], r.finish(total[j]));
  };
  if (ranges == 1) {
    launch.parallel_for(tasks, grain_for(work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        int64_t offsets[2], width;
        first_of(task, offsets, &width);
        Wide total[kColumns];
        add(from + offsets[1], width, 0, count, total);
        finish(total, offsets[0], width);
      }
    });
    return;
  }
  const Workspace<Wide> parts(launch, tasks * ranges * kColumns);
  launch.parallel_for(tasks * ranges, grain_for(work / ranges), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      int64_t offsets[2], width;
      first_of(item / ranges, offsets, &width);
      const int64_t start = item % ranges * range,
                    stop = start + range < count ? start + range : count;
      add(from + offsets[1], width, start, stop, parts.data() + item * kColumns);
    }
  });
  for (int64_t task = 0; task < tasks; ++task) {
    int64_t offsets[2], width;
    first_of(task, offsets, &width);
    Wide* total = parts.data() + task * ranges * kColumns;
    for (int64_t k = 1; k < ranges; ++k) {
      for (int64_t j = 0; j < width; ++j) total[j] = r.combine(total[j], total[k * kColumns + j]);
    }
    finish(total, offsets[0], width);
  }
}

}  // namespace detail

template <class I, class R>
void run_reduce(const Launch& launch, const R& r, const ReducePlan& plan, const I* from,
                const Store<typename R::Acc>& store) {
  const int kept = plan.kept.ndim - 1, reduced = plan.reduced.ndim - 1;
  const bool columns = plan.reduced.numel > 1 && plan.kept.strides[1][kept] == 1 &&
                       plan.kept.shape[kept] >= 8 && plan.reduced.strides[0][reduced] != 1;
  const bool short_rows = plan.reduced.ndim == 1 && plan.reduced.strides[0][0] == 1 &&
                          plan.reduced.numel > 1 && plan.reduced.numel <= detail::kShortRow &&
                          plan.kept.shape[kept] >= 16 && plan.kept.strides[1][kept] != 1;
  if (columns || short_rows) {
    detail::reduce_columns(launch, r, plan, from, store);
  } else {
    detail::reduce_rows(launch, r, plan, from, store);
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_REDUCE_LOOPS_H_
