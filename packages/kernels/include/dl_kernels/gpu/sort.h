// GPU sorting without a library: blocks sort tiles of items in shared memory, then adjacent runs
// are merged until one is left. A selection of the first k keeps at most k items of each run, so
// its merges soon become small. Source of the merge: Green, McColl and Bader, GPU Merge Path (ICS
// 2012): outputs are divided into equal pieces, and each piece finds its beginning in both runs by
// bisection.
#ifndef DL_KERNELS_GPU_SORT_H_
#define DL_KERNELS_GPU_SORT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/sort/sort_key.h"

DL_KERNELS_BEGIN

namespace gpu {

DL_FN int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

// Return how many of `count` sorted elements are less than `x`.
template <class Item>
DL_DEVICE int count_less(const Item* sorted, int count, const Item& x) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

inline constexpr int kItemsOfThread = 4;
inline constexpr int kSortTile = kItemsOfThread * kThreads;

// Sort tiles in place. Rows of `n` items are contiguous; a row is divided into tiles, or a tile
// holds several rows.
template <class Item>
DL_KERNEL void sort_tiles_kernel(Item* items, int64_t rows, int64_t n) {
  DL_SHARED Item tile[kSortTile];
  const int64_t tiles = (n + kSortTile - 1) / kSortTile;  // per row
  const int64_t together = n < kSortTile ? kSortTile / n : 1;
  const int64_t count = (rows + together - 1) / together * tiles;
  for (int64_t at = block_index(); at < count; at += block_count()) {
    const int64_t row = at / tiles * together, first = at % tiles * kSortTile;
    Item* here = items + row * n + first;
    const int length = static_cast<int>(lesser(n - first, kSortTile));
    const int filled = static_cast<int>(lesser(rows - row, together)) * length;
    for (int i = thread_index(); i < filled; i += kThreads) tile[i] = here[i];
    for (int run = 1; run < length; run *= 2) {
      Item mine[kItemsOfThread];
      int to[kItemsOfThread];
      barrier();
      DL_UNROLL
      for (int k = 0; k < kItemsOfThread; ++k) {
        const int i = thread_index() + k * kThreads;
        if (i >= filled) continue;
        // The new position is the position in the item's own run plus the number of smaller items
        // in the adjacent run.
        const int in_row = i % length, own = in_row / run * run, pair = own / (2 * run) * (2 * run);
        const int other = own == pair ? own + run : pair;
        const int end = other + run < length ? other + run : length;
        mine[k] = tile[i];
        to[k] = i - own + pair +
                (other < end ? count_less(tile + (i - in_row) + other, end - other, mine[k]) : 0);
      }
      barrier();
      DL_UNROLL
      for (int k = 0; k < kItemsOfThread; ++k) {
        if (thread_index() + k * kThreads < filled) tile[to[k]] = mine[k];
      }
    }
    barrier();
    for (int i = thread_index(); i < filled; i += kThreads) here[i] = tile[i];
  }
}

// Merge pairs of runs of `run` items, the first `keep` of which are sorted; the first `keep` of
// each pair are written. Item `index` is a piece of a pair of a row.
template <class Item, class Less>
struct MergePiece {
  static constexpr int64_t kPiece = 8;
  Less less;
  const Item* from;
  Item* to;
  int64_t n, run, keep;
  int64_t pairs, pieces;

  DL_FN void operator()(int64_t index) const {
    const int64_t pair = index / pieces % pairs,
                  first = index / pieces / pairs * n + 2 * run * pair;
    const int64_t left = n - 2 * run * pair;
    const Item *a = from + first, *b = a + run;
    const int64_t in_a = lesser(keep, lesser(run, left));
    const int64_t in_b = left > run ? lesser(keep, lesser(run, left - run)) : 0;
    const int64_t begin = index % pieces * kPiece;
    const int64_t end = lesser(begin + kPiece, lesser(keep, in_a + in_b));
    if (begin >= end) return;
    // Number of the first `begin` outputs that come from `a`.
    int64_t low = begin > in_b ? begin - in_b : 0, high = lesser(begin, in_a);
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (less(a[middle], b[begin - 1 - middle])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    int64_t i = low, j = begin - low;
    for (int64_t k = begin; k < end; ++k) {
      const bool takes_a = j == in_b || (i < in_a && less(a[i], b[j]));
      to[first + k] = takes_a ? a[i++] : b[j++];
    }
  }
};

// Merge runs of `run` items until every row has one; return the array with the result.
template <class Item, class Less>
Item* merge_runs(const Launch& launch, Item* items, Item* scratch, int64_t rows, int64_t n,
                 int64_t run, int64_t keep, const Less& less) {
  using Merge = MergePiece<Item, Less>;
  for (; run < n; run *= 2) {
    const int64_t pairs = (n + 2 * run - 1) / (2 * run);
    const int64_t pieces = (lesser(keep, 2 * run) + Merge::kPiece - 1) / Merge::kPiece;
    each(launch, rows * pairs * pieces, Merge::kPiece,
         Merge{less, items, scratch, n, run, keep, pairs, pieces});
    Item* merged = scratch;
    scratch = items;
    items = merged;
  }
  return items;
}

struct ItemLess {
  template <class Item>
  DL_FN bool operator()(const Item& a, const Item& b) const {
    return a < b;
  }
};

template <class T>
struct ItemFromRow {
  detail::sort_item_t<T>* items;
  const T* in;
  int64_t first;  // first row
  Held<DimPlan<3>> plan;
  sort_key_t<T> flip;

  DL_FN void operator()(int64_t index) const {
    const int64_t row = index / plan->n, i = index % plan->n;
    int64_t offsets[3];
    offsets_of(plan->rows, first + row, offsets);
    items[index] = detail::item_of(in[offsets[0] + i * plan->step[0]], i, flip);
  }
};

// Store the first `keep` items of each row as values and positions.
template <class U, class Item>
struct ItemToRow {
  const Item* items;
  const U* in;
  int64_t first, keep;
  Held<DimPlan<3>> plan;
  U* values;
  int64_t* indices;

  DL_FN void operator()(int64_t index) const {
    const int64_t row = index / keep, i = index % keep;
    int64_t offsets[3];
    offsets_of(plan->rows, first + row, offsets);
    const auto at = static_cast<int64_t>(items[row * plan->n + i].position());
    if (values != nullptr)
      values[offsets[1] + i * plan->step[1]] = in[offsets[0] + at * plan->step[0]];
    if (indices != nullptr) indices[offsets[2] + i * plan->step[2]] = at;
  }
};

// Values are moved as their bits.
template <class Item, class U>
void store_rows(const Launch& launch, const Item* items, int64_t first, int64_t rows, int64_t keep,
                const DimPlan<3>& plan, const void* in, void* values, int64_t* indices) {
  each(launch, rows * keep, 1,
       ItemToRow<U, Item>{items, static_cast<const U*>(in), first, keep, &plan,
                          static_cast<U*>(values), indices});
}

template <class Item>
Item* sort_items(const Launch& launch, Item* items, Item* scratch, int64_t rows, int64_t n,
                 int64_t keep) {
  constexpr int64_t kMost = 1 << 20;
  const int64_t tiles = n < kSortTile ? (rows + kSortTile / n - 1) / (kSortTile / n)
                                      : rows * ((n + kSortTile - 1) / kSortTile);
  run_blocks(launch.stream(), lesser(tiles, kMost), sort_tiles_kernel<Item>, items, rows, n);
  return merge_runs(launch, items, scratch, rows, n, kSortTile, keep, ItemLess{});
}

}  // namespace gpu

template <class T>
diopiError_t select_along(const Launch& launch, SortOrder order, const DimPlan<3>& plan,
                          const T* in, int64_t k, bool, T* values, int64_t* indices) {
  using Item = detail::sort_item_t<T>;
  if (plan.n >= detail::kLongestRow) return diopiNoImplement;
  if (k == 0) return diopiSuccess;
  // Rows that are sorted together: bounds the memory.
  constexpr int64_t kMost = 1 << 24;
  const int64_t n = plan.n, count = plan.rows.numel;
  const int64_t together = n >= kMost ? 1 : gpu::lesser(count, kMost / n);
  const Workspace<Item> items(launch, together * n),
      scratch(launch, n > gpu::kSortTile ? together * n : 0);
  for (int64_t first = 0; first < count; first += together) {
    const int64_t rows = gpu::lesser(together, count - first);
    each(launch, rows * n, 1,
         gpu::ItemFromRow<T>{items.data(), in, first, &plan, flip_of<T>(order)});
    const Item* sorted = gpu::sort_items(launch, items.data(), scratch.data(), rows, n, k);
    gpu::store_rows<Item, sort_key_t<T>>(launch, sorted, first, rows, k, plan, in, values, indices);
  }
  return diopiSuccess;
}

template <class T>
diopiError_t sort_along(const Launch& launch, SortOrder order, const DimPlan<3>& plan, const T* in,
                        T* values, int64_t* indices) {
  return select_along<T>(launch, order, plan, in, plan.n, true, values, indices);
}

namespace gpu {

template <class T>
struct KeyItem {
  sort_key_t<T>* keys;
  const T* in;
  DL_FN void operator()(int64_t i) const { keys[i] = sort_key(in[i]); }
};

struct CountItem {
  int64_t* to;
  DL_FN void operator()(int64_t i) const { to[i] = i; }
};

// Order slices by their first differing key, and equal ones by position.
template <class U>
struct SliceLess {
  const U* keys;
  int64_t width;

  DL_FN bool operator()(int64_t a, int64_t b) const {
    for (int64_t j = 0; j < width; ++j) {
      const U left = keys[a * width + j], right = keys[b * width + j];
      if (left != right) return left < right;
    }
    return a < b;
  }
};

}  // namespace gpu

template <class T>
void sort_slices(const Launch& launch, const T* in, int64_t count, int64_t width, int64_t* order) {
  using U = sort_key_t<T>;
  const Workspace<U> keys(launch, count * width);
  const Workspace<int64_t> scratch(launch, count);
  each(launch, count * width, 1, gpu::KeyItem<T>{keys.data(), in});
  each(launch, count, 1, gpu::CountItem{order});
  const int64_t* sorted = gpu::merge_runs(launch, order, scratch.data(), 1, count, 1, count,
                                          gpu::SliceLess<U>{keys.data(), width});
  copy_bytes(launch, order, sorted, count * static_cast<int64_t>(sizeof(int64_t)));
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SORT_H_
