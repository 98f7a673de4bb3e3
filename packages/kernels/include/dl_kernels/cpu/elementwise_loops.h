// CPU loops behind elementwise.h: unit strides and single-element operands vectorise directly, other strides by way of
// small buffers. How rows are visited (walk.h) is compiled once for all functors, the loop over one row once per functor.
#ifndef DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_
#define DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "dl_kernels/config.h"
#include "dl_kernels/cpu/gather.h"
#include "dl_kernels/cpu/walk.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

namespace detail {

template <class T>
DL_FN compute_t<T> load(const void* data, int64_t i) {
  return cast<compute_t<T>>(static_cast<const T*>(data)[i]);
}

template <class O, class... I, class F, size_t... K>
DL_FN void unit_row(const F& f, int64_t n, void* const* data, std::index_sequence<K...>) {
  O* out = static_cast<O*>(data[0]);
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = cast<O>(f(load<I>(data[K + 1], i)...));
}

template <class O, class A, class B, class F>
DL_FN bool scalar_operand_row(const F& f, int64_t n, void* const* data, const int64_t* steps) {
  O* out = static_cast<O*>(data[0]);
  if (steps[1] == 1 && steps[2] == 0) {
    const A* a = static_cast<const A*>(data[1]);
    const compute_t<B> b = load<B>(data[2], 0);
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = cast<O>(f(cast<compute_t<A>>(a[i]), b));
    return true;
  }
  return false;
}

template <class T>
DL_FN void* staged(T* buffer, void* data, int64_t step, int64_t at, int64_t n) {
  T* from = static_cast<T*>(data) + at * step;
  if (step == 1) return from;
  // A repeated value stays in its buffer from the first chunk on.
  if (step != 0 || at == 0) gather<T>(buffer, from, step, n);
  return buffer;
}

// Functor on one line of the iteration space.
template <class O, class... I, class F, size_t... K>
DL_FN void row(const F& f, int64_t n, void* const* data, const int64_t* steps, std::index_sequence<K...> indexes) {
  if constexpr (sizeof...(I) == 2) {
    if (steps[0] == 1 && scalar_operand_row<O, I...>(f, n, data, steps)) return;
  }
  if (((steps[K + 1] == 1) & ... & (steps[0] == 1))) {
    unit_row<O, I...>(f, n, data, indexes);
    return;
  }
  alignas(64) O out_buffer[kChunk];
  std::tuple<std::array<I, kChunk>...> buffers;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = n - at < kChunk ? n - at : kChunk;
    O* out = static_cast<O*>(data[0]) + at * steps[0];
    void* const chunk[] = {steps[0] == 1 ? out : out_buffer,
                           staged<I>(std::get<K>(buffers).data(), data[K + 1], steps[K + 1], at, count)...};
    unit_row<O, I...>(f, count, chunk, indexes);
    if (steps[0] != 1) scatter<O>(out, steps[0], out_buffer, count);
  }
}

}  // namespace detail

// The functor must outlive the task.
template <class O, class... I, class F>
DL_FN RowTask<1 + static_cast<int>(sizeof...(I))> row_task(const F& f) {
  const auto run = [](const void* functor, int64_t n, void* const* data, const int64_t* steps) {
    detail::row<O, I...>(*static_cast<const F*>(functor), n, data, steps, std::index_sequence_for<I...>{});
  };
  return {run, &f, {sizeof(O), sizeof(I)...}};
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ELEMENTWISE_LOOPS_H_
