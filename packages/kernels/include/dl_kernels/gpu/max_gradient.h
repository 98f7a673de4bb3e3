// GPU: one thread per cell searches the windows that cover it, so sums have a fixed order. A second
// pass adds the gradients of maxima that are outside their windows.
#ifndef DL_KERNELS_GPU_MAX_GRADIENT_H_
#define DL_KERNELS_GPU_MAX_GRADIENT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/atomic.h"
#include "dl_kernels/gpu/check.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"
#include "dl_kernels/image/outside_plane.h"
#include "dl_kernels/image/planes.h"

DL_KERNELS_BEGIN

namespace gpu {

// Negative positions count as the largest ones.
struct PositionOf {
  const int64_t* positions;
  DL_FN uint64_t operator()(int64_t i) const { return static_cast<uint64_t>(positions[i]); }
};

struct LargerPosition {
  DL_FN uint64_t operator()(uint64_t a, uint64_t b) const { return a > b ? a : b; }
};

template <class T>
struct MaximaItem {
  Planes planes;
  const Window *zs, *ys, *xs;  // the outputs that may cover each input cell
  compute_t<T>* to;
  const T* grads;
  const int64_t* positions;

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    const Axis &ay = planes.y, &ax = planes.x;
    const int64_t channels = planes.inner, channel = i % channels;
    const int64_t cell = i / channels % planes.input_cells();
    const int64_t plane = i / channels / planes.input_cells();
    const Window x = xs[cell % ax.input], y = ys[cell / ax.input % ay.input],
                 z = zs[cell / (ax.input * ay.input)];
    C total = 0;
    for (int64_t oz = z.begin; oz < z.end; ++oz) {
      for (int64_t oy = y.begin; oy < y.end; ++oy) {
        const int64_t line = (oz * ay.output + oy) * ax.output;
        for (int64_t ox = x.begin; ox < x.end; ++ox) {
          const int64_t o = (plane * planes.output_cells() + line + ox) * channels + channel;
          if (positions[o] == cell) total += cast<C>(grads[o]);
        }
      }
    }
    to[i] = total;
  }
};

// For each output whose maximum is outside its window, which MaximaItem skips. Fractional pooling
// has such outputs, because it places windows at random.
template <class T>
struct OutsideMaximaItem {
  MaximaItem<T> within;

  DL_DEVICE void operator()(int64_t i) const {
    const Planes& planes = within.planes;
    const Axis &ay = planes.y, &ax = planes.x;
    const int64_t position = within.positions[i], cells = planes.input_cells();
    if (position < 0 || position >= cells) return;
    const int64_t channels = planes.inner, outputs = planes.output_cells();
    const int64_t o = i / channels % outputs, plane = i / channels / outputs;
    const bool seen = has(within.xs[position % ax.input], o % ax.output) &&
                      has(within.ys[position / ax.input % ay.input], o / ax.output % ay.output) &&
                      has(within.zs[position / (ax.input * ay.input)], o / (ax.output * ay.output));
    if (seen) return;
    atomic_add(within.to + (plane * cells + position) * channels + i % channels,
               cast<compute_t<T>>(within.grads[i]));
  }

 private:
  DL_DEVICE static bool has(const Window& window, int64_t o) {
    return o >= window.begin && o < window.end;
  }
};

}  // namespace gpu

inline diopiError_t check_positions(const Launch& launch, const char* op, const int64_t* positions,
                                    int64_t count, int64_t cells) {
  if (count == 0) return diopiSuccess;
  const Workspace<uint64_t> largest(launch, 1);
  gpu::total(launch, count, uint64_t(0), gpu::LargerPosition{}, gpu::PositionOf{positions},
             largest.data());
  return check_items(launch, op, 1, detail::OutsidePlane{largest.data(), cells});
}

// Positions outside the plane belong to no cell.
template <class T>
void add_maxima(const Launch& launch, const Planes& planes, bool adaptive, compute_t<T>* to,
                const T* grads, const int64_t* positions) {
  // Treat windows with gaps as covering the gaps too; only recorded positions count.
  Planes whole = planes;
  for (Axis* axis : {&whole.z, &whole.y, &whole.x}) {
    axis->kernel = (axis->kernel - 1) * axis->dilation + 1;
    axis->dilation = 1;
  }
  const WindowTables over(launch, whole, adaptive, true);
  const gpu::MaximaItem<T> within{planes, over.z(), over.y(), over.x(), to, grads, positions};
  each(launch, planes.outer * planes.input_cells() * planes.inner, 1, within);
  each(launch, planes.outer * planes.output_cells() * planes.inner, 1,
       gpu::OutsideMaximaItem<T>{within});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_MAX_GRADIENT_H_
