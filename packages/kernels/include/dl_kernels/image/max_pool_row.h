// Max pooling of contiguous planes, output by output.
#ifndef DL_KERNELS_IMAGE_MAX_POOL_ROW_H_
#define DL_KERNELS_IMAGE_MAX_POOL_ROW_H_

#include <cstdint>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/image/planes.h"

DL_KERNELS_BEGIN

template <class C>
DL_FN bool takes_over(C value, C best) {
  return value > best || is_nan(value);
}

// One row of outputs along x, in contiguous layout.
template <class T>
struct MaxPoolRow {
  Planes planes;
  const Window *zs, *ys, *xs;
  T* out;
  int64_t* positions;
  const T* in;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    using C = compute_t<T>;
    const Axis &az = planes.z, &ay = planes.y, &ax = planes.x;
    const int64_t oy = row % ay.output, oz = row / ay.output % az.output;
    const Window z = zs[oz], y = ys[oy];
    const Window* const windows = xs;
    const T* const plane = in + row / (ay.output * az.output) * planes.input_cells();
    T* const values = out + row * ax.output;
    int64_t* const row_positions = positions == nullptr ? nullptr : positions + row * ax.output;
    const int64_t height = ay.input, width = ax.input;
    const int64_t dz = az.dilation, dy = ay.dilation, dx = ax.dilation;
    block.map(ax.output, [=](int64_t ox) {
      const Window x = windows[ox];
      // The first position counts even if all values are the lowest one.
      int64_t best_at = z.begin < z.end && y.begin < y.end && x.begin < x.end
                            ? (z.begin * height + y.begin) * width + x.begin
                            : -1;
      C best = lowest<C>();
      for (int64_t iz = z.begin; iz < z.end; iz += dz) {
        for (int64_t iy = y.begin; iy < y.end; iy += dy) {
          const int64_t base = (iz * height + iy) * width;
          for (int64_t ix = x.begin; ix < x.end; ix += dx) {
            const C value = cast<C>(plane[base + ix]);
            const bool takes = takes_over(value, best);
            best = takes ? value : best;
            best_at = takes ? base + ix : best_at;
          }
        }
      }
      values[ox] = cast<T>(best);
      if (row_positions != nullptr) row_positions[ox] = best_at;
    });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_MAX_POOL_ROW_H_
