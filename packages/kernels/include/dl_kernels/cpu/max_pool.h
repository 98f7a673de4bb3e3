// CPU: a row of outputs processes one position of its windows after the other, so the loop
// vectorizes along the row.
#ifndef DL_KERNELS_CPU_MAX_POOL_H_
#define DL_KERNELS_CPU_MAX_POOL_H_

#include <cstdint>
#include <limits>

#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/image/max_pool_row.h"

DL_KERNELS_BEGIN

namespace detail {

// Running maxima of adjacent outputs, and the cells of the plane that hold them.
template <class C>
struct RunningMaxima {
  static constexpr int64_t kWidth = 64;
  alignas(64) C best[kWidth];
  alignas(64) int32_t cell[kWidth];
};

// Restrict [*begin, *end) to the outputs whose window element at `shift` is inside the axis.
DL_FN void clip_outputs(const Axis& axis, int64_t shift, int64_t* begin, int64_t* end) {
  const int64_t first = shift < 0 ? (axis.stride - 1 - shift) / axis.stride : 0;
  const int64_t last = axis.input - 1 - shift;
  const int64_t end_of_range = last < 0 ? 0 : last / axis.stride + 1;
  *begin = *begin < first ? first : *begin;
  *end = *end < end_of_range ? *end : end_of_range;
}

// Compute the range [*begin, *end) of window positions that are inside the axis for at least one of
// the outputs [first, first + count).
inline void clip_taps(const Axis& axis, int64_t first, int64_t count, int64_t* begin,
                      int64_t* end) {
  const int64_t before = -axis.start(first + count - 1), last = axis.input - 1 - axis.start(first);
  *begin = before > 0 ? (before + axis.dilation - 1) / axis.dilation : 0;
  *end = last < 0 ? 0 : last / axis.dilation + 1;
  *end = *end < axis.kernel ? *end : axis.kernel;
}

template <class T, class C>
void take_line(const Axis& axis, const T* plane, int64_t line, int64_t first, int64_t count,
               RunningMaxima<C>* maxima) {
  int64_t first_tap, last_tap;
  clip_taps(axis, first, count, &first_tap, &last_tap);
  for (int64_t tap = first_tap; tap < last_tap; ++tap) {
    const int64_t shift = tap * axis.dilation - axis.padding;
    int64_t begin = first, end = first + count;
    clip_outputs(axis, shift, &begin, &end);
    const auto take = [&](int64_t stride) {
      DL_VECTOR_LOOP
      for (int64_t o = begin; o < end; ++o) {
        const int64_t at = line + o * stride + shift;
        const C value = cast<C>(plane[at]), best = maxima->best[o - first];
        const bool takes = takes_over(value, best);
        maxima->best[o - first] = takes ? value : best;
        maxima->cell[o - first] = takes ? static_cast<int32_t>(at) : maxima->cell[o - first];
      }
    };
    axis.stride == 1 ? take(1) : take(axis.stride);
  }
}

template <class T>
void max_pool_row(const MaxPoolRow<T>& rows, int64_t row) {
  using C = compute_t<T>;
  const Planes& planes = rows.planes;
  const Axis &az = planes.z, &ay = planes.y, &ax = planes.x;
  const Window z = rows.zs[row / ay.output % az.output], y = rows.ys[row % ay.output];
  const T* plane = rows.in + row / (ay.output * az.output) * planes.input_cells();
  const bool some = z.begin < z.end && y.begin < y.end;
  RunningMaxima<C> maxima;
  for (int64_t first = 0; first < ax.output; first += maxima.kWidth) {
    const int64_t count = ax.output - first < maxima.kWidth ? ax.output - first : maxima.kWidth;
    for (int64_t i = 0; i < count; ++i) {
      const Window x = rows.xs[first + i];
      const int64_t cell = (z.begin * ay.input + y.begin) * ax.input + x.begin;
      maxima.best[i] = lowest<C>();
      // The first position counts even if all values are the lowest one.
      maxima.cell[i] = some && x.begin < x.end ? static_cast<int32_t>(cell) : -1;
    }
    for (int64_t iz = z.begin; iz < z.end; iz += az.dilation) {
      for (int64_t iy = y.begin; iy < y.end; iy += ay.dilation)
        take_line(ax, plane, (iz * ay.input + iy) * ax.input, first, count, &maxima);
    }
    T* values = rows.out + row * ax.output + first;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i) values[i] = cast<T>(maxima.best[i]);
    if (rows.positions == nullptr) continue;
    int64_t* to = rows.positions + row * ax.output + first;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i) to[i] = maxima.cell[i];
  }
}

}  // namespace detail

template <class T>
void max_pool_rows(const Launch& launch, int64_t work, bool adaptive, const MaxPoolRow<T>& rows) {
  const Planes& planes = rows.planes;
  const int64_t count = planes.outer * planes.z.output * planes.y.output;
  const int64_t width = work * planes.x.output;
  // Adaptive windows have no common step.
  if (adaptive || planes.input_cells() > std::numeric_limits<int32_t>::max()) {
    mapped_rows(launch, count, planes.x.output, width, rows);
    return;
  }
  launch.parallel_for(count, grain_for(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) detail::max_pool_row(rows, row);
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_MAX_POOL_H_
