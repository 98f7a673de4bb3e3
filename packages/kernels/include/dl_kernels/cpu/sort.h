// Sorting on the CPU, as items of key and position. Long rows use a least-significant-digit radix
// sort that skips bytes in which all keys agree, short ones a comparison sort. Selections keep the
// best candidates so far and examine only elements that beat the worst of them.
#ifndef DL_KERNELS_CPU_SORT_H_
#define DL_KERNELS_CPU_SORT_H_

#include <algorithm>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/sort/sort_key.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kRadixFrom = 512;  // from this length on, radix sort is faster

// Sort `items` with scratch memory of the same size; return the array with the result.
template <int Bytes, class Item>
Item* sort_items(Item* items, Item* scratch, int64_t n) {
  if (n < kRadixFrom) {
    std::sort(items, items + n);
    return items;
  }
  int64_t counts[Bytes][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    DL_UNROLL
    for (int b = 0; b < Bytes; ++b) ++counts[b][items[i].digit(b)];
  }
  for (int b = 0; b < Bytes; ++b) {
    if (counts[b][items[0].digit(b)] == n) continue;
    int64_t next = 0;
    for (int64_t& count : counts[b]) {
      const int64_t here = count;
      count = next;
      next += here;
    }
    for (int64_t i = 0; i < n; ++i) scratch[counts[b][items[i].digit(b)]++] = items[i];
    std::swap(items, scratch);
  }
  return items;
}

template <class T, class Plan>
void store_items(const sort_item_t<T>* items, int64_t n, const T* x, const Plan& plan, T* values,
                 int64_t* indices) {
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<int64_t>(items[i].position());
    if (values != nullptr) values[i * plan.step[1]] = x[at * plan.step[0]];
    if (indices != nullptr) indices[i * plan.step[2]] = at;
  }
}

// Select the `k` smallest items of a row, in any order, at the front of `items`, which has room for
// `capacity` > k.
template <class T>
void select_items(const T* x, int64_t step, int64_t n, int64_t k, int64_t capacity,
                  sort_key_t<T> flip, sort_item_t<T>* items) {
  using U = sort_key_t<T>;
  constexpr int64_t kAtOnce = 64;
  int64_t count = 0;
  auto bound = static_cast<U>(~U(0));
  for (int64_t i = 0; i < n; ++i) {
    // Once there is a bound, most pieces have no element below it.
    while (step == 1 && i % kAtOnce == 0 && i + kAtOnce <= n && bound != static_cast<U>(~U(0))) {
      U any = 0;
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < kAtOnce; ++j)
        any |= static_cast<U>(static_cast<U>(sort_key(x[i + j]) ^ flip) <= bound);
      if (any != 0) break;
      i += kAtOnce;
    }
    if (i == n) break;
    if (static_cast<sort_key_t<T>>(sort_key(x[i * step]) ^ flip) > bound) continue;
    items[count++] = item_of(x[i * step], i, flip);
    if (count < capacity) continue;
    std::nth_element(items, items + k - 1, items + count);
    count = k;
    const auto worst = static_cast<int64_t>(items[k - 1].position());
    bound = static_cast<sort_key_t<T>>(sort_key(x[worst * step]) ^ flip);
  }
  if (count > k) std::nth_element(items, items + k - 1, items + count);
}

// Up to this number, selected items are kept sorted by insertion.
inline constexpr int64_t kFew = 16;

// The `k` smallest items of a row of at least `k` elements, in order.
template <class T>
void select_few(const T* x, int64_t step, int64_t n, int64_t k, sort_key_t<T> flip,
                sort_item_t<T>* best) {
  using U = sort_key_t<T>;
  constexpr int64_t kAtOnce = 64;
  U keys[kAtOnce];
  int64_t count = 0;
  U bound = 0;  // key of the last of `k` items
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    const int64_t size = n - begin < kAtOnce ? n - begin : kAtOnce;
    if (step == 1 && size == kAtOnce) {
      U any = 0;
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < kAtOnce; ++j) {
        keys[j] = static_cast<U>(sort_key(x[begin + j]) ^ flip);
        any |= static_cast<U>(keys[j] < bound);
      }
      // Most pieces have nothing better.
      if (count == k && any == 0) continue;
    } else {
      for (int64_t j = 0; j < size; ++j)
        keys[j] = static_cast<U>(sort_key(x[(begin + j) * step]) ^ flip);
    }
    for (int64_t j = 0; j < size; ++j) {
      // The first of equal keys wins.
      if (count == k && keys[j] >= bound) continue;
      const sort_item_t<T> item = item_with_key<T>(keys[j], begin + j);
      int64_t at = count < k ? count++ : k - 1;
      for (; at > 0 && item < best[at - 1]; --at) best[at] = best[at - 1];
      best[at] = item;
      if (count == k) {
        const auto last = static_cast<int64_t>(best[k - 1].position());
        bound = static_cast<U>(sort_key(x[last * step]) ^ flip);
      }
    }
  }
}

}  // namespace detail

template <class T>
diopiError_t sort_along(const Launch& launch, SortOrder order, const DimPlan<3>& plan, const T* in,
                        T* values, int64_t* indices) {
  using Item = detail::sort_item_t<T>;
  if (plan.n >= detail::kLongestRow) return diopiNoImplement;
  const sort_key_t<T> flip = flip_of<T>(order);
  launch.parallel_for(plan.rows.numel, grain_for(8 * plan.n), [&](int64_t begin, int64_t end) {
    const Workspace<Item> buffer(launch, 2 * plan.n);
    for (int64_t row = begin; row < end; ++row) {
      int64_t offsets[3];
      offsets_of(plan.rows, row, offsets);
      const T* x = in + offsets[0];
      Item* items = buffer.data();
      for (int64_t i = 0; i < plan.n; ++i) items[i] = detail::item_of(x[i * plan.step[0]], i, flip);
      items = detail::sort_items<sizeof(T)>(items, items + plan.n, plan.n);
      detail::store_items(items, plan.n, x, plan, values == nullptr ? nullptr : values + offsets[1],
                          indices == nullptr ? nullptr : indices + offsets[2]);
    }
  });
  return diopiSuccess;
}

template <class T>
diopiError_t select_along(const Launch& launch, SortOrder order, const DimPlan<3>& plan,
                          const T* in, int64_t k, bool sorted, T* values, int64_t* indices) {
  using Item = detail::sort_item_t<T>;
  if (plan.n >= detail::kLongestRow) return diopiNoImplement;
  if (k == 0) return diopiSuccess;
  const sort_key_t<T> flip = flip_of<T>(order);
  const int64_t wanted = 2 * k + 64, capacity = wanted < plan.n ? wanted : plan.n + 1;
  launch.parallel_for(plan.rows.numel, grain_for(2 * plan.n), [&](int64_t begin, int64_t end) {
    const Workspace<Item> buffer(launch, capacity + k);
    for (int64_t row = begin; row < end; ++row) {
      int64_t offsets[3];
      offsets_of(plan.rows, row, offsets);
      const T* x = in + offsets[0];
      Item* items = buffer.data();
      if (k <= detail::kFew) {
        detail::select_few(x, plan.step[0], plan.n, k, flip, items);
      } else {
        detail::select_items(x, plan.step[0], plan.n, k, capacity, flip, items);
        if (sorted) items = detail::sort_items<sizeof(T)>(items, items + capacity, k);
      }
      detail::store_items(items, k, x, plan, values == nullptr ? nullptr : values + offsets[1],
                          indices == nullptr ? nullptr : indices + offsets[2]);
    }
  });
  return diopiSuccess;
}

template <class T>
void sort_slices(const Launch&, const T* in, int64_t count, int64_t width, int64_t* order) {
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order, order + count, [=](int64_t a, int64_t b) {
    for (int64_t j = 0; j < width; ++j) {
      const auto left = sort_key(in[a * width + j]), right = sort_key(in[b * width + j]);
      if (left != right) return left < right;
    }
    return a < b;
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SORT_H_
