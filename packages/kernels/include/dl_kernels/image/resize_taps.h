// Resizing of one axis: every result is a weighted sum of a few cells. The gradient uses the
// transposed table of cells and weights, so it is a gather too.
//
//   transpose_taps(launch, axis, taps, begins, cells, weights)
//   resize_axis(launch, taps, outer, from_cells, to_cells, inner, out, in)
//                                         from [outer, from, inner] to [outer, to, inner]
#ifndef DL_KERNELS_IMAGE_RESIZE_TAPS_H_
#define DL_KERNELS_IMAGE_RESIZE_TAPS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/image/resize_shape.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/resize_axis.h"
#else
#include "dl_kernels/cpu/resize_axis.h"
#endif

DL_KERNELS_BEGIN

// Bicubic weights. Source: Keys, Cubic Convolution Interpolation for Digital Image Processing
// (1981), with -3/4 as the free parameter. Weights of the cells at distance 1 + t, t, 1 - t and 2 -
// t, where u = 1 - t; the polynomials are factored to avoid cancellation.
DL_FN void cubic_weights(double t, double u, double (&weights)[4]) {
  constexpr double a = -0.75;
  weights[0] = a * t * u * u;
  weights[1] = u * (1 + t * (1 - (a + 2) * t));
  weights[2] = t * (1 + u * (1 - (a + 2) * u));
  weights[3] = a * u * t * t;
}

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
      const AxisResize::Position position = resize.position(o);
      const double parts = static_cast<double>(position.parts);
      const double t = static_cast<double>(position.past) / parts;
      const double u = static_cast<double>(position.parts - position.past) / parts;
      double w[4] = {u, t, 0, 0};
      if (resize.cubic) cubic_weights(t, u, w);
      for (int64_t k = 0; k < resize.taps(); ++k) {
        int64_t from = position.index + k - (resize.cubic ? 1 : 0);
        from = from < 0 ? 0 : from > resize.input - 1 ? resize.input - 1 : from;
        at[o * resize.taps() + k] = static_cast<int32_t>(from);
        weight[o * resize.taps() + k] = static_cast<C>(w[k]);
      }
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
    mapped_rows(launch, 1, axis.output, axis.output,
                FillTaps<C>{axis, forward, forward + axis.output + 1, weights});
    taps_ = {forward, forward + axis.output + 1, weights, axis.taps()};
    if (!transposed) return;
    int32_t* const backward = transposed_cells_.reserve(launch, axis.input + 1 + entries);
    C* const shares = transposed_weights_.reserve(launch, entries);
    transpose_taps(launch, axis, taps_, backward, backward + axis.input + 1, shares);
    taps_ = {backward, backward + axis.input + 1, shares, 0};
  }
  const Taps<C>& taps() const { return taps_; }

 private:
  Workspace<int32_t> cells_, transposed_cells_;
  Workspace<C> weights_, transposed_weights_;
  Taps<C> taps_{};
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_RESIZE_TAPS_H_
