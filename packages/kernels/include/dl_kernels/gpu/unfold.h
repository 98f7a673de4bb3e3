// GPU: im2col for windows over images, with one thread per channel and position, and col2im, with
// one thread per element of the image that gathers its contributions.
#ifndef DL_KERNELS_GPU_UNFOLD_H_
#define DL_KERNELS_GPU_UNFOLD_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/image/image.h"

DL_KERNELS_BEGIN

namespace gpu {

// Images [sample][channel][z][y][x] with windows; `sample_step` is the stride of samples.
struct WindowedImages {
  Axis z, y, x;
  int64_t channels, sample_step;

  DL_FN int64_t input_cells() const { return z.input * y.input * x.input; }
  DL_FN int64_t positions() const { return z.output * y.output * x.output; }
  DL_FN int64_t window() const { return z.kernel * y.kernel * x.kernel; }
};

// Layout of columns: element (sample, tap, position) is at sample · sample_step + tap · tap_step +
// position; a tap is a channel and a position within the window.
struct ColumnsLayout {
  int64_t sample_step, tap_step;
};

// Return the position along an axis of the window whose element `k` is cell `i`, or -1.
DL_FN int64_t window_on(const Axis& axis, int64_t i, int64_t k) {
  const int64_t start = i + axis.padding - k * axis.dilation;
  if (start < 0 || start % axis.stride != 0) return -1;
  const int64_t o = start / axis.stride;
  return o < axis.output ? o : -1;
}

// Call f(k, p) for every element k of a window at a position p that covers the cell.
template <class F>
DL_FN void each_window_on(const Axis& z, const Axis& y, const Axis& x, int64_t cell, const F& f) {
  const int64_t ix = cell % x.input, iy = cell / x.input % y.input, iz = cell / (x.input * y.input);
  int64_t k = 0;
  for (int64_t kz = 0; kz < z.kernel; ++kz) {
    const int64_t oz = window_on(z, iz, kz);
    for (int64_t ky = 0; ky < y.kernel; ++ky) {
      const int64_t oy = window_on(y, iy, ky);
      for (int64_t kx = 0; kx < x.kernel; ++kx, ++k) {
        const int64_t ox = window_on(x, ix, kx);
        if (oz < 0 || oy < 0 || ox < 0) continue;
        f(k, (oz * y.output + oy) * x.output + ox);
      }
    }
  }
}

// The columns of `count` positions from `first` on, counted over all samples; `columns` is the
// address for position `first`. U represents all types of its size: their zero has no bits set.
template <class U>
struct UnfoldItem {
  WindowedImages images;
  ColumnsLayout layout;
  const U* from;
  U* columns;
  int64_t first, count;

  DL_FN void operator()(int64_t i) const {
    const Axis &z = images.z, &y = images.y, &x = images.x;
    const int64_t channel = i / count, position = first + i % count;
    const int64_t sample = position / images.positions(), p = position % images.positions();
    const int64_t z0 = z.start(p / (x.output * y.output)), y0 = y.start(p / x.output % y.output),
                  x0 = x.start(p % x.output);
    const U* const image = from + sample * images.sample_step + channel * images.input_cells();
    U* to = columns + sample * layout.sample_step + p - first +
            channel * images.window() * layout.tap_step;
    for (int64_t kz = 0; kz < z.kernel; ++kz) {
      const int64_t iz = z0 + kz * z.dilation;
      for (int64_t ky = 0; ky < y.kernel; ++ky) {
        const int64_t iy = y0 + ky * y.dilation;
        const bool on_line = iz >= 0 && iz < z.input && iy >= 0 && iy < y.input;
        const int64_t line = (iz * y.input + iy) * x.input;
        for (int64_t kx = 0; kx < x.kernel; ++kx, to += layout.tap_step) {
          const int64_t ix = x0 + kx * x.dilation;
          *to = on_line && ix >= 0 && ix < x.input ? image[line + ix] : U(0);
        }
      }
    }
  }
};

// An element of an image: the sum of its contributions from the columns.
template <class C, class O>
struct FoldItem {
  WindowedImages images;
  ColumnsLayout layout;
  const C* columns;
  O* to;

  DL_FN void operator()(int64_t i) const {
    const int64_t plane = i / images.input_cells();
    const int64_t channel = plane % images.channels, sample = plane / images.channels;
    const C* const from =
        columns + sample * layout.sample_step + channel * images.window() * layout.tap_step;
    const int64_t tap_step = layout.tap_step;
    C total = 0;
    each_window_on(images.z, images.y, images.x, i % images.input_cells(),
                   [&](int64_t k, int64_t p) { total += from[k * tap_step + p]; });
    to[sample * images.sample_step + i % (images.channels * images.input_cells())] = cast<O>(total);
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_UNFOLD_H_
