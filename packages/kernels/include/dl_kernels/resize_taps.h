// Resizing one axis: every result is a weighted sum of a few cells. The gradient is the same with
// the table of cells and weights transposed, so it is gathered, too.
#ifndef DL_KERNELS_RESIZE_TAPS_H_
#define DL_KERNELS_RESIZE_TAPS_H_

#include <cstdint>

#include "dl_kernels/block.h"
#include "dl_kernels/config.h"
#include "dl_kernels/launch.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

struct AxisResize {
  int64_t input, output;
  bool cubic, align_corners;

  DL_FN int64_t taps() const { return cubic ? 4 : 2; }

  // Where output cell `o` lies on the input: past the cell `index` by `past` of `parts`. Worked out
  // in integers, for differences of rounded positions would lose what they have in common.
  struct Place {
    int64_t index, past, parts;
  };
  DL_FN Place place(int64_t o) const {
    int64_t at, parts;
    if (align_corners) {
      at = o * (input - 1);
      parts = output > 1 ? output - 1 : 1;
      if (output <= 1) at = 0;
    } else {
      at = (2 * o + 1) * input - output;
      parts = 2 * output;
      if (at < 0 && !cubic) at = 0;
    }
    int64_t index = at / parts;
    if (index * parts > at) --index;
    if (index > input - 1) return {input - 1, 0, 1};
    return {index, at - index * parts, parts};
  }
};

// Source: Keys, Cubic Convolution Interpolation for Digital Image Processing (1981), with -3/4 as
// the free parameter. Weights of the cells at distance 1 + t, t, 1 - t and 2 - t, where u = 1 - t,
// with the polynomials as products, in which nothing cancels.
DL_FN void cubic_weights(double t, double u, double (&weights)[4]) {
  constexpr double a = -0.75;
  weights[0] = a * t * u * u;
  weights[1] = u * (1 + t * (1 - (a + 2) * t));
  weights[2] = t * (1 + u * (1 - (a + 2) * u));
  weights[3] = a * u * t * t;
}

// The cells that result `t` is made of are cells[e] with weights[e], e in [begins[t], begins[t+1]).
template <class C>
struct Taps {
  const int32_t* begins;
  const int32_t* cells;
  const C* weights;
  int64_t fixed;  // the number of cells where it is the same for all results, else 0
};

template <class C>
struct FillTaps {
  AxisResize axis;
  int32_t *begins, *cells;
  C* weights;

  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const AxisResize resize = axis;
    int32_t *const first = begins, *const at = cells;
    C* const weight = weights;
    block.map(resize.output + 1,
              [=](int64_t o) { first[o] = static_cast<int32_t>(o * resize.taps()); });
    block.map(resize.output, [=](int64_t o) {
      const AxisResize::Place place = resize.place(o);
      const double parts = static_cast<double>(place.parts);
      const double t = static_cast<double>(place.past) / parts;
      const double u = static_cast<double>(place.parts - place.past) / parts;
      double w[4] = {u, t, 0, 0};
      if (resize.cubic) cubic_weights(t, u, w);
      for (int64_t k = 0; k < resize.taps(); ++k) {
        int64_t from = place.index + k - (resize.cubic ? 1 : 0);
        from = from < 0 ? 0 : from > resize.input - 1 ? resize.input - 1 : from;
        at[o * resize.taps() + k] = static_cast<int32_t>(from);
        weight[o * resize.taps() + k] = static_cast<C>(w[k]);
      }
    });
  }
};

// A small table, built in order by one worker: the place of an entry depends on those before.
template <class C>
struct TransposeTaps {
  AxisResize axis;
  Taps<C> taps;
  int32_t *begins, *cells;
  C* weights;

  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const AxisResize resize = axis;
    const Taps<C> from = taps;
    int32_t *const first = begins, *const at = cells;
    C* const weight = weights;
    block.map(1, [=](int64_t) {
      const int64_t count = resize.taps();
      int64_t low = 0, high = 0;
      int32_t used = 0;
      // Cells never fall from one output to the next: those that touch `i` are neighbours.
      for (int64_t i = 0; i < resize.input; ++i) {
        first[i] = used;
        while (low < resize.output && from.cells[low * count + count - 1] < i) ++low;
        while (high < resize.output && from.cells[high * count] <= i) ++high;
        for (int64_t o = low; o < high; ++o) {
          C total = 0;
          for (int64_t k = 0; k < count; ++k) {
            if (from.cells[o * count + k] == i) total += from.weights[o * count + k];
          }
          at[used] = static_cast<int32_t>(o);
          weight[used++] = total;
        }
      }
      first[resize.input] = used;
    });
  }
};

template <class C>
class TapTable {
 public:
  TapTable(const Launch& launch, const AxisResize& axis, bool transposed) {
    const int64_t entries = axis.output * axis.taps();
    int32_t* const forward = cells_.reserve(launch, axis.output + 1 + entries);
    C* const weights = weights_.reserve(launch, entries);
    rows(launch, 1, 1, FillTaps<C>{axis, forward, forward + axis.output + 1, weights});
    taps_ = {forward, forward + axis.output + 1, weights, axis.taps()};
    if (!transposed) return;
    int32_t* const backward = transposed_cells_.reserve(launch, axis.input + 1 + entries);
    C* const shares = transposed_weights_.reserve(launch, entries);
    rows(launch, 1, 1, TransposeTaps<C>{axis, taps_, backward, backward + axis.input + 1, shares});
    taps_ = {backward, backward + axis.input + 1, shares, 0};
  }
  const Taps<C>& taps() const { return taps_; }

 private:
  Workspace<int32_t> cells_, transposed_cells_;
  Workspace<C> weights_, transposed_weights_;
  Taps<C> taps_{};
};

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

// Along another axis: the cells of a result are vectors of `inner` elements, taken in pieces that
// fit the buffer.
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

#endif  // DL_KERNELS_RESIZE_TAPS_H_
