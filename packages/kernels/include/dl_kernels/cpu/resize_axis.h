// CPU: resize one axis, a line or a piece of a line of vectors at a time.
#ifndef DL_KERNELS_CPU_RESIZE_AXIS_H_
#define DL_KERNELS_CPU_RESIZE_AXIS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/image/resize_shape.h"

DL_KERNELS_BEGIN

// Table for the gradients, built in order by one worker: the position of an entry depends on those
// before.
template <class C>
void transpose_taps(const Launch&, const AxisResize& axis, const Taps<C>& from, int32_t* begins,
                    int32_t* cells, C* weights) {
  const int64_t count = axis.taps();
  int64_t low = 0, high = 0;
  int32_t used = 0;
  // Cells do not decrease from one output to the next: the outputs that use `i` are adjacent.
  for (int64_t i = 0; i < axis.input; ++i) {
    begins[i] = used;
    while (low < axis.output && from.cells[low * count + count - 1] < i) ++low;
    while (high < axis.output && from.cells[high * count] <= i) ++high;
    for (int64_t o = low; o < high; ++o) {
      cells[used] = static_cast<int32_t>(o);
      weights[used++] = from.weight_of(i, o, count);
    }
  }
  begins[axis.input] = used;
}

// Along the innermost axis: one line of memory.
template <class O, class I>
struct ResizeLine {
  Taps<compute_t<O>> taps;
  int64_t from_cells, to_cells;
  O* out;
  const I* in;

  template <class B>
  DL_FN void operator()(const B& block, int64_t line) const {
    using C = compute_t<O>;
    O* const to = out + line * to_cells;
    const I* const from = in + line * from_cells;
    const int32_t *const begins = taps.begins, *const cells = taps.cells;
    const C* const weights = taps.weights;
    if (taps.fixed == 2) {
      block.map(to_cells, [=](int64_t t) {
        to[t] = cast<O>(cast<C>(from[cells[2 * t]]) * weights[2 * t] +
                        cast<C>(from[cells[2 * t + 1]]) * weights[2 * t + 1]);
      });
      return;
    }
    block.map(to_cells, [=](int64_t t) {
      C total = 0;
      for (int32_t e = begins[t]; e < begins[t + 1]; ++e) {
        total += cast<C>(from[cells[e]]) * weights[e];
      }
      to[t] = cast<O>(total);
    });
  }
};

// Along another axis: the cells of a result are vectors of `inner` elements, processed in pieces
// that fit the buffer.
inline constexpr int64_t kResizePiece = 512;

template <class O, class I>
struct ResizeColumns {
  Taps<compute_t<O>> taps;
  int64_t from_cells, to_cells, inner, pieces;
  O* out;
  const I* in;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row, compute_t<O>* total) const {
    using C = compute_t<O>;
    const int64_t start = row % pieces * kResizePiece, t = row / pieces % to_cells;
    const int64_t n = inner - start < kResizePiece ? inner - start : kResizePiece;
    O* const to = out + row / pieces * inner + start;
    const I* const plane = in + row / pieces / to_cells * from_cells * inner + start;
    const int32_t begin = taps.begins[t], end = taps.begins[t + 1];
    if (end - begin == 2) {
      const I *const a = plane + taps.cells[begin] * inner, *const b =
                                                                plane +
                                                                taps.cells[begin + 1] * inner;
      const C wa = taps.weights[begin], wb = taps.weights[begin + 1];
      block.map(n, [=](int64_t j) { to[j] = cast<O>(cast<C>(a[j]) * wa + cast<C>(b[j]) * wb); });
      return;
    }
    block.map(n, [=](int64_t j) { total[j] = 0; });
    for (int32_t e = begin; e < end; ++e) {
      const I* const a = plane + taps.cells[e] * inner;
      const C w = taps.weights[e];
      block.map(n, [=](int64_t j) { total[j] += cast<C>(a[j]) * w; });
    }
    block.map(n, [=](int64_t j) { to[j] = cast<O>(total[j]); });
  }
};

// [outer, from, inner] to [outer, to, inner].
template <class O, class I>
void resize_axis(const Launch& launch, const Taps<compute_t<O>>& taps, int64_t outer,
                 int64_t from_cells, int64_t to_cells, int64_t inner, O* out, const I* in) {
  if (inner == 1) {
    rows(launch, outer, to_cells * 2, ResizeLine<O, I>{taps, from_cells, to_cells, out, in});
    return;
  }
  const int64_t pieces = (inner + kResizePiece - 1) / kResizePiece;
  rows_with_buffer<compute_t<O>>(
      launch, outer * to_cells * pieces, inner < kResizePiece ? inner : kResizePiece, kResizePiece,
      ResizeColumns<O, I>{taps, from_cells, to_cells, inner, pieces, out, in});
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_RESIZE_AXIS_H_
