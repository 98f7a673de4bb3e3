// CPU loops of elementwise/elementwise.h. A functor is compiled into one loop over contiguous
// arrays, and one for a single-element second operand. Other strides and half precision pass
// through small buffers, except for functions of bfloat16. The traversal of rows (walk.h) is
// compiled once for all functors.
#ifndef DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_
#define DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gather.h"
#include "dl_kernels/cpu/walk.h"

DL_KERNELS_BEGIN

namespace detail {

// operator() of a functor is correct for any arguments. Where a form that vectorizes, or is
// cheaper, serves a part of the domain, the functor also has `in_fast_range(...)` and `fast(...)`
// for such arguments.
template <class F, class = void>
struct HasFast : std::false_type {};
template <class F>
struct HasFast<F, std::void_t<decltype(&F::in_fast_range)>> : std::true_type {};

// Type of an operand in the loops over contiguous arrays: half precision is already converted.
template <class T>
using loop_t = std::conditional_t<kIsHalf<T>, float, T>;

// out[i] = f(...) for n elements; `with(i, g)` calls g with the arguments of element i.
template <class O, class F, class With>
DL_FN void each_element(const F& f, O* out, int64_t n, const With& with) {
  using C = compute_t<O>;
  // Without the attribute, large functors are called, and loops do not vectorize.
  const auto whole = [&](auto... x)
                         __attribute__((always_inline)) { return cast<O>(cast<C>(f(x...))); };
  if constexpr (HasFast<F>::value) {
    const auto leaves = [&](auto... x) __attribute__((always_inline)) {
      return f.in_fast_range(x...) ? 0 : 1;
    };
    const auto fast = [&](auto... x)
                          __attribute__((always_inline)) { return cast<O>(cast<C>(f.fast(x...))); };
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      const int64_t end = n - begin < kChunk ? n : begin + kChunk;
      int outside = 0;
      DL_VECTOR_LOOP
      for (int64_t i = begin; i < end; ++i) outside |= with(i, leaves);
      if (outside == 0) {
        DL_VECTOR_LOOP
        for (int64_t i = begin; i < end; ++i) out[i] = with(i, fast);
      } else {
        DL_VECTOR_LOOP
        for (int64_t i = begin; i < end; ++i) out[i] = with(i, whole);
      }
    }
  } else {
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = with(i, whole);
  }
}

template <class O, class... I, class F, size_t... K>
__attribute__((noinline)) void adjacent_rows(const F& functor, const TaskRows& rows,
                                             void* const* data, std::index_sequence<K...>) {
  // Copies tell the compiler that the functor's parameters and the addresses do not alias `out`.
  const F f = functor;
  const int64_t n = rows.n, count = rows.count;
  O* out = static_cast<O*>(data[0]);
  std::tuple<const I*...> from{static_cast<const I*>(data[K + 1])...};
  for (int64_t line = 0;;) {
    each_element(f, out, n, [from](int64_t i, const auto& g) __attribute__((always_inline)) {
      return g(cast<compute_t<I>>(std::get<K>(from)[i])...);
    });
    if (++line == count) return;
    out += rows.line_steps[0];
    ((std::get<K>(from) += rows.line_steps[K + 1]), ...);
  }
}

// The same where the second operand is one element for each row.
template <class O, class A, class B, class F>
__attribute__((noinline)) void adjacent_rows_with_scalar(const F& functor, const TaskRows& rows,
                                                         void* const* data) {
  const F f = functor;
  const int64_t n = rows.n, count = rows.count;
  O* out = static_cast<O*>(data[0]);
  const A* a = static_cast<const A*>(data[1]);
  const B* second = static_cast<const B*>(data[2]);
  for (int64_t line = 0;;) {
    const auto b = cast<compute_t<B>>(*second);
    each_element(f, out, n, [a, b](int64_t i, const auto& g) __attribute__((always_inline)) {
      return g(cast<compute_t<A>>(a[i]), b);
    });
    if (++line == count) return;
    out += rows.line_steps[0];
    a += rows.line_steps[1];
    second += rows.line_steps[2];
  }
}

// Elements of bfloat16 that are converted together in registers.
inline constexpr int64_t kGroup = 64;

// Words of two bfloat16 elements, aligned like one element.
typedef uint32_t BFloat16Pair __attribute__((aligned(2), may_alias));

// Deinterleave: the first of each pair, then the second. The order does not matter to an
// elementwise function, and no element has to move between lanes.
DL_FN void split_pairs(float* to, const BFloat16Pair* from) {
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < kGroup / 2; ++i) {
    to[i] = bit_cast<float>(from[i] << 16);
    to[i + kGroup / 2] = bit_cast<float>(from[i] & 0xffff0000u);
  }
}

// Round results to bfloat16, to nearest even. A NaN computed from bfloat16 has 0 in its low 16
// bits, so it stays a NaN.
DL_FN void join_pairs(BFloat16Pair* to, const float* from) {
  const auto rounded = [](float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    return bits + 0x7fffu + (bits >> 16 & 1u);
  };
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < kGroup / 2; ++i) {
    to[i] = rounded(from[i]) >> 16 | (rounded(from[i + kGroup / 2]) & 0xffff0000u);
  }
}

// x[0][i] = f(x[0][i], x[1][i]…).
template <class F, size_t... K>
DL_FN void apply_to_group(const F& f, float (*x)[kGroup], std::index_sequence<K...>) {
  if constexpr (HasFast<F>::value) {
    int outside = 0;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < kGroup; ++i) outside |= f.in_fast_range(x[K][i]...) ? 0 : 1;
    if (outside == 0) {
      DL_VECTOR_LOOP
      for (int64_t i = 0; i < kGroup; ++i) x[0][i] = cast<float>(f.fast(x[K][i]...));
      return;
    }
  }
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < kGroup; ++i) x[0][i] = cast<float>(f(x[K][i]...));
}

// A function of bfloat16, whose inputs are adjacent or single elements: conversions stay in
// registers and the first-level cache.
template <class F, size_t... K>
__attribute__((noinline)) void bfloat16_row(const F& functor, int64_t n, void* const* data,
                                            const int64_t* steps, std::index_sequence<K...> all) {
  constexpr int kInputs = sizeof...(K);
  const F f = functor;
  alignas(64) float x[kInputs][kGroup];
  const BFloat16* const from[] = {static_cast<const BFloat16*>(data[K + 1])...};
  const int64_t step[] = {steps[K + 1]...};
  BFloat16* const out = static_cast<BFloat16*>(data[0]);
  const auto repeat = [&](int k) {
    const float value = cast<float>(*from[k]);
    for (int64_t i = 0; i < kGroup; ++i) x[k][i] = value;
  };
  // The first buffer has the result too, so a single element is not kept in it.
  for (int k = 1; k < kInputs; ++k) {
    if (step[k] == 0) repeat(k);
  }
  int64_t at = 0;
  for (; at + kGroup <= n; at += kGroup) {
    if (step[0] == 0) repeat(0);
    for (int k = 0; k < kInputs; ++k) {
      if (step[k] != 0) split_pairs(x[k], reinterpret_cast<const BFloat16Pair*>(from[k] + at));
    }
    apply_to_group(f, x, all);
    join_pairs(reinterpret_cast<BFloat16Pair*>(out + at), x[0]);
  }
  if (at == n) return;
  BFloat16 last[kGroup] = {};
  if (step[0] == 0) repeat(0);
  for (int k = 0; k < kInputs; ++k) {
    if (step[k] == 0) continue;
    for (int64_t i = at; i < n; ++i) last[i - at] = from[k][i];
    split_pairs(x[k], reinterpret_cast<const BFloat16Pair*>(last));
  }
  apply_to_group(f, x, all);
  join_pairs(reinterpret_cast<BFloat16Pair*>(last), x[0]);
  for (int64_t i = at; i < n; ++i) out[i] = last[i - at];
}

template <class T>
DL_FN void* staged(loop_t<T>* buffer, void* data, int64_t step, int64_t at, int64_t n) {
  T* from = static_cast<T*>(data) + at * step;
  if (step == 1 && !kIsHalf<T>) return from;
  // A broadcast value stays in its buffer from the first chunk on.
  if (step != 0 || at == 0) gather(buffer, static_cast<const T*>(from), step, n);
  return buffer;
}

// Apply a functor to one row of any strides, in chunks that are dense.
template <class O, class... I, class F, size_t... K>
DL_FN void staged_row(const F& f, int64_t n, void* const* data, const int64_t* steps,
                      std::index_sequence<K...> indexes) {
  using C = loop_t<O>;
  alignas(64) C out_buffer[kChunk];
  std::tuple<std::array<loop_t<I>, kChunk>...> buffers;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = n - at < kChunk ? n - at : kChunk;
    O* out = static_cast<O*>(data[0]) + at * steps[0];
    const bool direct = steps[0] == 1 && !kIsHalf<O>;
    void* const chunk[] = {
        direct ? static_cast<void*>(out) : out_buffer,
        staged<I>(std::get<K>(buffers).data(), data[K + 1], steps[K + 1], at, count)...};
    adjacent_rows<C, loop_t<I>...>(f, {1, count, steps, steps}, chunk, indexes);
    if (!direct) scatter(out, steps[0], static_cast<const C*>(out_buffer), count);
  }
}

template <class O, class... I, class F, size_t... K>
DL_FN void apply_rows(const F& f, const TaskRows& rows, void* const* data,
                      std::index_sequence<K...> indexes) {
  const int64_t* const steps = rows.steps;
  if constexpr (!kIsHalf<O> && !(kIsHalf<I> || ...)) {
    if (((steps[K + 1] == 1) & ... & (steps[0] == 1))) {
      adjacent_rows<O, I...>(f, rows, data, indexes);
      return;
    }
    if constexpr (sizeof...(I) == 2) {
      if (steps[0] == 1 && steps[1] == 1 && steps[2] == 0) {
        adjacent_rows_with_scalar<O, I...>(f, rows, data);
        return;
      }
    }
  }
  bool in_groups = false;
  if constexpr (std::is_same_v<O, BFloat16> && (std::is_same_v<I, BFloat16> && ...)) {
    // Most of a group would be computed in vain for a short row.
    in_groups = (sizeof...(I) == 1 || rows.n >= kGroup / 2) && steps[0] == 1 &&
                ((steps[K + 1] == 1 || steps[K + 1] == 0) && ...) && ((steps[K + 1] == 1) || ...);
  }
  for (int64_t line = 0; line < rows.count; ++line) {
    void* const row[] = {static_cast<O*>(data[0]) + line * rows.line_steps[0],
                         static_cast<I*>(data[K + 1]) + line * rows.line_steps[K + 1]...};
    if constexpr (std::is_same_v<O, BFloat16> && (std::is_same_v<I, BFloat16> && ...)) {
      if (in_groups) {
        bfloat16_row(f, rows.n, row, steps, indexes);
        continue;
      }
    }
    staged_row<O, I...>(f, rows.n, row, steps, indexes);
  }
}

}  // namespace detail

// The functor must outlive the task.
template <class O, class... I, class F>
DL_FN RowTask<1 + static_cast<int>(sizeof...(I))> row_task(const F& f) {
  const auto run = [](const void* functor, const TaskRows& rows, void* const* data) {
    detail::apply_rows<O, I...>(*static_cast<const F*>(functor), rows, data,
                                std::index_sequence_for<I...>{});
  };
  return {run, &f, {sizeof(O), sizeof(I)...}};
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_
