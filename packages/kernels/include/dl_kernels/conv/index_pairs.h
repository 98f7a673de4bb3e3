// Pairs of rows that the cells of a kernel connect, for sparse convolution and pooling.
#ifndef DL_KERNELS_CONV_INDEX_PAIRS_H_
#define DL_KERNELS_CONV_INDEX_PAIRS_H_

#include <cstdint>

#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Pair lists in device memory: cell k connects from[k * most + p] to to[k * most + p] for p <
// counts[k].
struct PairLists {
  const int64_t *counts, *from, *to;
  int64_t cells, most;
};

namespace detail {

struct CountOutside {
  const int64_t* indexes;
  int64_t most;
  DL_FN bool operator()(int64_t k) const { return indexes[k] < 0 || indexes[k] > most; }
  DL_FN void describe(int64_t k, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "{value} pairs at position {position} of indiceNum: the capacity is {high}");
    error.value = indexes[k];
    error.position = k;
    error.high = most;
  }
};

// Check of the first counts[k] pairs of each cell; entries after them may have any value.
struct RowOutside {
  const int64_t *indexes, *counts;
  int64_t most, rows, whole;
  DL_FN bool operator()(int64_t i) const {
    const int64_t k = i / most;
    return k != whole && i % most < counts[k] && (indexes[i] < 0 || indexes[i] >= rows);
  }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "row {value} at position {position} of indicePairs is out of range [0, {high})");
    error.value = indexes[i];
    error.position = i;
    error.high = rows;
  }
};

}  // namespace detail

// The checked pairs of a call; owns the memory that launches read.
class IndexPairs {
 public:
  IndexPairs() = default;
  IndexPairs(const IndexPairs&) = delete;
  IndexPairs& operator=(const IndexPairs&) = delete;

  // `pairs` is [cells, 2, most] or, where that does not fit, [2, cells, most]. With `swapped`,
  // pairs lead from their second rows to their first.
  diopiError_t open(diopiContextHandle_t ctx, const char* op, const TensorRef& pairs,
                    const TensorRef& counts, bool swapped) {
    ctx_ = ctx;
    op_ = op;
    if (pairs.dtype != diopi_dtype_int32 || counts.dtype != diopi_dtype_int32)
      return diopiDtypeNotSupported;
    DL_TRY(check_sizes(op, "indiceNum", counts, {kAnySize}));
    lists_.cells = counts.sizes[0];
    const bool cells_first =
        pairs.ndim == 3 && pairs.sizes[0] == lists_.cells && pairs.sizes[1] == 2;
    if (!cells_first) {
      if (pairs.ndim != 3 || pairs.sizes[0] != 2)
        DL_TRY(check_sizes(op, "indicePairs", pairs, {lists_.cells, 2, kAnySize}));
      DL_TRY(check_sizes(op, "indicePairs", pairs, {2, lists_.cells, kAnySize}));
    }
    lists_.most = pairs.sizes[2];
    sizes_[0] = lists_.cells;
    sizes_[1] = lists_.most;
    strides_[0] = pairs.strides[cells_first ? 0 : 1];
    strides_[1] = pairs.strides[2];
    const int64_t side = pairs.strides[cells_first ? 1 : 0];
    const Launch launch(ctx);
    const TensorRef sides[2] = {side_of(pairs, swapped ? side : 0),
                                side_of(pairs, swapped ? 0 : side)};
    for (int i = 0; i < 2; ++i) {
      rows_[i].reserve(launch, sides[i].numel);
      int64_t strides[kMaxDims];
      DL_TRY(
          copy_elements(ctx, op, detail::array_like(rows_[i].data(), sides[i], strides), sides[i]));
    }
    // Padded so that the host can read the counts in groups.
    const int64_t groups = (lists_.cells + kGroup - 1) / kGroup;
    counts_.reserve(launch, groups * kGroup);
    clear_bytes(launch, counts_.data(), groups * kGroup * static_cast<int64_t>(sizeof(int64_t)));
    int64_t strides[kMaxDims];
    DL_TRY(copy_elements(ctx, op, detail::array_like(counts_.data(), counts, strides), counts));
    DL_TRY(checked_counts_.open(launch, op, detail::CountOutside{counts_.data(), lists_.most},
                                lists_.cells, 0));
    lists_.counts = checked_counts_.data();
    return diopiSuccess;
  }

  // Call f(k, n) on the host for every cell k with n > 0 pairs; waits for the device.
  template <class F>
  diopiError_t for_each_cell(const F& f) const {
    const Launch launch(ctx_);
    for (int64_t first = 0; first < lists_.cells; first += kGroup) {
      const Group group = fetch(launch, reinterpret_cast<const Group*>(counts_.data() + first));
      for (int64_t i = 0; i < kGroup && first + i < lists_.cells; ++i) {
        const int64_t n = group.counts[i];
        // On a GPU, the check's result is not known yet; the check has skipped the pairs of a cell
        // with an invalid count.
        if (n > 0 && n <= lists_.most) DL_TRY(f(first + i, n));
      }
    }
    return diopiSuccess;
  }

  // Check that source rows are in [0, from_rows) and target rows in [0, to_rows). The pairs of the
  // cell `whole`, unless it is -1, are not read.
  diopiError_t check_rows(int64_t from_rows, int64_t to_rows, int64_t whole) {
    const Launch launch(ctx_);
    const int64_t rows[2] = {from_rows, to_rows};
    const int64_t** const read[2] = {&lists_.from, &lists_.to};
    for (int i = 0; i < 2; ++i) {
      DL_TRY(checked_[i].open(
          launch, op_,
          detail::RowOutside{rows_[i].data(), lists_.counts, lists_.most, rows[i], whole},
          lists_.cells * lists_.most, 0, rows[i] == 0));
      *read[i] = checked_[i].data();
    }
    return diopiSuccess;
  }

  const PairLists& lists() const { return lists_; }

 private:
  static constexpr int64_t kGroup = 64;
  struct Group {
    int64_t counts[kGroup];
  };

  TensorRef side_of(const TensorRef& pairs, int64_t offset) const {
    TensorRef side = pairs;
    side.data = pairs.as<int32_t>() + offset;
    side.sizes = sizes_;
    side.strides = strides_;
    side.ndim = 2;
    side.numel = sizes_[0] * sizes_[1];
    side.contiguous = false;
    return side;
  }

  diopiContextHandle_t ctx_ = nullptr;
  const char* op_ = "";
  PairLists lists_{};
  int64_t sizes_[2] = {}, strides_[2] = {};
  Workspace<int64_t> counts_, rows_[2];
  CheckedIndexes checked_counts_, checked_[2];
};

// Columns that are summed together: a cache line.
inline constexpr int64_t kStrip = 16;

// Add `count` rows of `values`, one per pair, to the rows of `sums` named by `to`. A strip of
// columns adds them in order, since several pairs may have the same target row.
template <class C>
struct AddRowsKernel {
  C* sums;
  const C* values;
  const int64_t* to;
  int64_t count, columns;
  template <class B>
  DL_FN void operator()(const B& block, int64_t strip) const {
    const int64_t first = strip * kStrip;
    const int64_t width = columns - first < kStrip ? columns - first : kStrip;
    for (int64_t p = 0; p < count; ++p) {
      C* const sum = sums + to[p] * columns + first;
      const C* const value = values + p * columns + first;
      block.map(width, [=](int64_t c) { sum[c] += value[c]; });
    }
  }
};

template <class C>
void add_rows(const Launch& launch, C* sums, const C* values, const int64_t* to, int64_t count,
              int64_t columns) {
  mapped_rows(launch, (columns + kStrip - 1) / kStrip, kStrip, count * kStrip,
              AddRowsKernel<C>{sums, values, to, count, columns});
}

template <class C>
struct TakeRowsItem {
  C* taken;
  const C* rows;
  const int64_t* from;
  int64_t columns;
  DL_FN void operator()(int64_t i) const {
    taken[i] = rows[from[i / columns] * columns + i % columns];
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_INDEX_PAIRS_H_
