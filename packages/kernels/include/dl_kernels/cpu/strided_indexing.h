// CPU: advanced indexing as nested loops over index positions and over the dimensions that are not
// indexed; the innermost loop vectorizes.
#ifndef DL_KERNELS_CPU_STRIDED_INDEXING_H_
#define DL_KERNELS_CPU_STRIDED_INDEXING_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/index/indexed_positions.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace detail {

// Joint iteration over the indexed tensor (operand 0) and a contiguous or broadcast tensor of the
// result's shape.
struct PositionsPlan {
  Plan<2> outer, inner;  // dimensions before and after the indexed ones
  int64_t count, scale;
  const int64_t* places;
  int64_t step;          // stride of the other tensor between consecutive positions
  const int64_t* steps;  // its offsets if the stride is not constant
};

inline Plan<2> whole_dims(const IndexedPositions& places, const int64_t* strides, int64_t begin,
                          int64_t end) {
  Plan<2> plan;
  plan.ndim = static_cast<int>(end - begin);
  plan.numel = 1;
  for (int64_t d = begin; d < end; ++d) {
    plan.shape[d - begin] = places.sizes()[d];
    plan.strides[0][d - begin] = places.strides()[d];
    plan.strides[1][d - begin] = strides[d];
    plan.numel *= places.sizes()[d];
  }
  simplify(plan);
  return plan;
}

// `strides` belong to the other tensor, one for each dimension of the result.
inline PositionsPlan positions_plan(const Launch& launch, const IndexedPositions& places,
                                    const int64_t* strides, Workspace<int64_t>& storage) {
  const int64_t first = places.first(), last = first + places.broadcast_dims();
  PositionsPlan plan{whole_dims(places, strides, 0, first),
                     whole_dims(places, strides, last, places.ndim()),
                     places.count(),
                     places.scale(),
                     places.positions(),
                     0,
                     nullptr};
  Plan<1> between;
  between.ndim = static_cast<int>(last - first);
  between.numel = places.count();
  int64_t merged = 1;
  bool regular = true;
  for (int64_t d = last - 1; d >= first; --d) {
    between.shape[d - first] = places.sizes()[d];
    between.strides[0][d - first] = strides[d];
    if (places.sizes()[d] == 1) continue;
    if (merged == 1) plan.step = strides[d];
    regular &= strides[d] == plan.step * merged;
    merged *= places.sizes()[d];
  }
  if (!regular) {
    int64_t* to = storage.reserve(launch, plan.count);
    for (int64_t i = 0; i < plan.count; ++i) {
      int64_t offset[1];
      offsets_of(between, i, offset);
      to[i] = offset[0];
    }
    plan.steps = to;
  }
  return plan;
}

// Visit the index positions [begin, end) for one index of the outer dimensions, limited to the
// columns [left, right) of the innermost dimension.
template <class X, class Y, class F>
void visit_positions(const PositionsPlan& plan, X* x, Y* y, int64_t begin, int64_t end,
                     int64_t left, int64_t right, const F& f) {
  const int last = plan.inner.ndim - 1;
  const int64_t a = plan.inner.strides[0][last], b = plan.inner.strides[1][last];
  const int64_t width = plan.inner.shape[last], lines = plan.inner.numel / width;
  const int64_t* places = plan.places;
  const int64_t scale = plan.scale, step = plan.step;
  if (plan.inner.numel == 1 && plan.steps == nullptr) {
    for (int64_t i = begin; i < end; ++i) f(x[places[i] * scale], y[i * step]);
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    X* const from = x + places[i] * scale;
    Y* const to = y + (plan.steps == nullptr ? i * step : plan.steps[i]);
    for (int64_t line = 0; line < lines; ++line) {
      int64_t offsets[2] = {0, 0};
      if (lines > 1) offsets_of(plan.inner, line * width, offsets);
      X* const p = from + offsets[0];
      Y* const q = to + offsets[1];
      if (a == 1 && b == 1) {
        DL_VECTOR_LOOP
        for (int64_t j = left; j < right; ++j) f(p[j], q[j]);
      } else {
        for (int64_t j = left; j < right; ++j) f(p[j * a], q[j * b]);
      }
    }
  }
}

// Reads may be done in any order.
template <class X, class Y, class F>
void each_position(const Launch& launch, const PositionsPlan& plan, X* x, Y* y, const F& f) {
  const int64_t width = plan.inner.shape[plan.inner.ndim - 1];
  launch.parallel_for(
      plan.outer.numel * plan.count, grain_for(plan.inner.numel), [&](int64_t begin, int64_t end) {
        while (begin < end) {
          const int64_t first = begin % plan.count;
          const int64_t left = plan.count - first, n = end - begin < left ? end - begin : left;
          int64_t offsets[2];
          offsets_of(plan.outer, begin / plan.count, offsets);
          visit_positions(plan, x + offsets[0], y + offsets[1], first, first + n, int64_t(0), width,
                          f);
          begin += n;
        }
      });
}

// All writes to one element are done by one thread, in the order of the positions, so results are
// deterministic.
template <class X, class Y, class F>
void each_position_in_order(const Launch& launch, const PositionsPlan& plan, X* x, Y* y,
                            const F& f) {
  constexpr int64_t kPart = 64;
  const int64_t width = plan.inner.shape[plan.inner.ndim - 1];
  const int64_t parts = (width + kPart - 1) / kPart;
  const int64_t work = plan.count * plan.inner.numel;
  launch.parallel_for(
      plan.outer.numel * parts, grain_for(work / parts), [&](int64_t begin, int64_t end) {
        while (begin < end) {
          const int64_t first = begin % parts;
          const int64_t left = parts - first, n = end - begin < left ? end - begin : left;
          const int64_t last = (first + n) * kPart;
          int64_t offsets[2];
          offsets_of(plan.outer, begin / parts, offsets);
          visit_positions(plan, x + offsets[0], y + offsets[1], int64_t(0), plan.count,
                          first * kPart, last < width ? last : width, f);
          begin += n;
        }
      });
}

}  // namespace detail

template <class U>
void gather_positions(const Launch& launch, const IndexedPositions& places, const int64_t* strides,
                      const U* from, U* to) {
  Workspace<int64_t> storage;
  detail::each_position(launch, detail::positions_plan(launch, places, strides, storage), from, to,
                        [](const U& x, U& y) { y = x; });
}

template <class U>
void scatter_positions(const Launch& launch, const IndexedPositions& places, const int64_t* strides,
                       U* to, const U* from) {
  Workspace<int64_t> storage;
  detail::each_position_in_order(launch, detail::positions_plan(launch, places, strides, storage),
                                 to, from, [](U& x, const U& y) { x = y; });
}

template <class A, class T>
void accumulate_positions(const Launch& launch, const IndexedPositions& places,
                          const int64_t* strides, A* to, const T* from) {
  Workspace<int64_t> storage;
  detail::each_position_in_order(launch, detail::positions_plan(launch, places, strides, storage),
                                 to, from, [](A& x, const T& y) { x = wrap_add(x, cast<A>(y)); });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_STRIDED_INDEXING_H_
