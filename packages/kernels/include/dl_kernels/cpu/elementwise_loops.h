// CPU loops of elementwise/elementwise.h. A functor is compiled into one loop over contiguous
// arrays, and one for a single-element second operand. Other strides and half precision pass
// through small buffers, except for functions of one bfloat16. The traversal of rows (walk.h) is
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
__attribute__((noinline)) void dense_row(const F& functor, int64_t n, void* const* data,
                                         std::index_sequence<K...>) {
  // Copies tell the compiler that the functor's parameters and the addresses do not alias `out`.
  const F f = functor;
  const std::tuple<const I*...> from{static_cast<const I*>(data[K + 1])...};
  each_element(f, static_cast<O*>(data[0]), n,
               [from](int64_t i, const auto& g) __attribute__((always_inline)) {
                 return g(cast<compute_t<I>>(std::get<K>(from)[i])...);
               });
}

template <class O, class A, class B, class F>
__attribute__((noinline)) void dense_row_with_scalar(const F& functor, int64_t n,
                                                     void* const* data) {
  const F f = functor;
  const A* a = static_cast<const A*>(data[1]);
  const auto b = cast<compute_t<B>>(*static_cast<const B*>(data[2]));
  each_element(f, static_cast<O*>(data[0]), n,
               [a, b](int64_t i, const auto& g)
                   __attribute__((always_inline)) { return g(cast<compute_t<A>>(a[i]), b); });
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

template <class F>
DL_FN void apply_to_group(const F& f, float* x) {
  if constexpr (HasFast<F>::value) {
    int outside = 0;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < kGroup; ++i) outside |= f.in_fast_range(x[i]) ? 0 : 1;
    if (outside == 0) {
      DL_VECTOR_LOOP
      for (int64_t i = 0; i < kGroup; ++i) x[i] = f.fast(x[i]);
      return;
    }
  }
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < kGroup; ++i) x[i] = cast<float>(f(x[i]));
}

// A function of one bfloat16: conversions stay in registers and the first-level cache.
template <class F>
__attribute__((noinline)) void bfloat16_row(const F& functor, int64_t n, BFloat16* out,
                                            const BFloat16* in) {
  const F f = functor;
  alignas(64) float x[kGroup];
  const auto group = [&](BFloat16* to, const BFloat16* from) {
    split_pairs(x, reinterpret_cast<const BFloat16Pair*>(from));
    apply_to_group(f, x);
    join_pairs(reinterpret_cast<BFloat16Pair*>(to), x);
  };
  int64_t at = 0;
  for (; at + kGroup <= n; at += kGroup) group(out + at, in + at);
  if (at == n) return;
  BFloat16 last[kGroup] = {};
  for (int64_t i = at; i < n; ++i) last[i - at] = in[i];
  group(last, last);
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

// Apply a functor to one line of the iteration space.
template <class O, class... I, class F, size_t... K>
DL_FN void row(const F& f, int64_t n, void* const* data, const int64_t* steps,
               std::index_sequence<K...> indexes) {
  using C = loop_t<O>;
  constexpr bool kDirect = !kIsHalf<O> && !(kIsHalf<I> || ...);
  if constexpr (kDirect) {
    if (((steps[K + 1] == 1) & ... & (steps[0] == 1))) {
      dense_row<C, loop_t<I>...>(f, n, data, indexes);
      return;
    }
    if constexpr (sizeof...(I) == 2) {
      if (steps[0] == 1 && steps[1] == 1 && steps[2] == 0) {
        dense_row_with_scalar<C, loop_t<I>...>(f, n, data);
        return;
      }
    }
  }
  if constexpr (std::is_same_v<O, BFloat16> && sizeof...(I) == 1 &&
                (std::is_same_v<I, BFloat16> && ...)) {
    if (steps[0] == 1 && steps[1] == 1) {
      bfloat16_row(f, n, static_cast<O*>(data[0]), static_cast<const O*>(data[1]));
      return;
    }
  }
  alignas(64) C out_buffer[kChunk];
  std::tuple<std::array<loop_t<I>, kChunk>...> buffers;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = n - at < kChunk ? n - at : kChunk;
    O* out = static_cast<O*>(data[0]) + at * steps[0];
    const bool direct = steps[0] == 1 && !kIsHalf<O>;
    void* const chunk[] = {
        direct ? static_cast<void*>(out) : out_buffer,
        staged<I>(std::get<K>(buffers).data(), data[K + 1], steps[K + 1], at, count)...};
    dense_row<C, loop_t<I>...>(f, count, chunk, indexes);
    if (!direct) scatter(out, steps[0], static_cast<const C*>(out_buffer), count);
  }
}

}  // namespace detail

// The functor must outlive the task.
template <class O, class... I, class F>
DL_FN RowTask<1 + static_cast<int>(sizeof...(I))> row_task(const F& f) {
  const auto run = [](const void* functor, int64_t n, void* const* data, const int64_t* steps) {
    detail::row<O, I...>(*static_cast<const F*>(functor), n, data, steps,
                         std::index_sequence_for<I...>{});
  };
  return {run, &f, {sizeof(O), sizeof(I)...}};
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_
