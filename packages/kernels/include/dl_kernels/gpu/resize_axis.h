// GPU: resize one axis with one thread per result.
#ifndef DL_KERNELS_GPU_RESIZE_AXIS_H_
#define DL_KERNELS_GPU_RESIZE_AXIS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/image/resize_shape.h"

DL_KERNELS_BEGIN

namespace gpu {

// Return the first result in [0, axis.output) whose `k`-th cell is not below `i`, by bisection:
// cells do not decrease from one result to the next.
template <class C>
DL_FN int64_t first_result(const AxisResize& axis, const Taps<C>& taps, int64_t k, int64_t i) {
  int64_t low = 0, high = axis.output;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (taps.cells[middle * axis.taps() + k] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// begins[i + 1] = the number of results that use cells 0 … i, counting each cell.
template <class C>
struct CountResults {
  AxisResize axis;
  Taps<C> taps;
  int32_t* begins;

  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const AxisResize resize = axis;
    const Taps<C> from = taps;
    int32_t* const first = begins;
    block.template scan<int32_t>(
        resize.input,
        [=](int64_t i) {
          return static_cast<int32_t>(first_result(resize, from, 0, i + 1) -
                                      first_result(resize, from, resize.taps() - 1, i));
        },
        [](int32_t a, int32_t b) { return a + b; },
        [=](int64_t i, int32_t total) { first[i + 1] = total; });
    block.map(1, [=](int64_t) { first[0] = 0; });
  }
};

template <class C>
struct TransposeItem {
  AxisResize axis;
  Taps<C> taps;
  const int32_t* begins;
  int32_t* cells;
  C* weights;

  DL_FN void operator()(int64_t i) const {
    int64_t o = first_result(axis, taps, axis.taps() - 1, i);
    for (int32_t e = begins[i]; e < begins[i + 1]; ++e, ++o) {
      cells[e] = static_cast<int32_t>(o);
      weights[e] = taps.weight_of(i, o, axis.taps());
    }
  }
};

template <class O, class I>
struct ResizeItem {
  Taps<compute_t<O>> taps;
  int64_t from_cells, to_cells, inner;
  O* out;
  const I* in;

  DL_DEVICE void operator()(int64_t i) const {
    using C = compute_t<O>;
    const int64_t cell = quotient_of(i, inner), line = quotient_of(cell, to_cells);
    const int64_t t = cell - line * to_cells;
    const I* const from = in + line * from_cells * inner + (i - cell * inner);
    C total = 0;
    for (int32_t e = taps.begins[t]; e < taps.begins[t + 1]; ++e)
      total += cast<C>(from[taps.cells[e] * inner]) * taps.weights[e];
    out[i] = cast<O>(total);
  }
};

}  // namespace gpu

template <class C>
void transpose_taps(const Launch& launch, const AxisResize& axis, const Taps<C>& from,
                    int32_t* begins, int32_t* cells, C* weights) {
  rows(launch, 1, axis.input, gpu::CountResults<C>{axis, from, begins});
  each(launch, axis.input, axis.taps(), gpu::TransposeItem<C>{axis, from, begins, cells, weights});
}

template <class O, class I>
void resize_axis(const Launch& launch, const Taps<compute_t<O>>& taps, int64_t outer,
                 int64_t from_cells, int64_t to_cells, int64_t inner, O* out, const I* in) {
  each(launch, outer * to_cells * inner, 4,
       gpu::ResizeItem<O, I>{taps, from_cells, to_cells, inner, out, in});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_RESIZE_AXIS_H_
