// CPU: im2col line by line, for several samples at a time.
#ifndef DL_KERNELS_CPU_COLUMNS_H_
#define DL_KERNELS_CPU_COLUMNS_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/conv/columns_shape.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

namespace detail {

// Compute the outputs [*first, *last) of a line for which tap `k` is inside the image.
inline void valid_range(const Axis& x, int64_t k, int64_t* first, int64_t* last) {
  const int64_t shift = k * x.dilation - x.padding;
  *first = shift >= 0 ? 0 : (-shift + x.stride - 1) / x.stride;
  *last = x.input <= shift ? 0 : (x.input - shift + x.stride - 1) / x.stride;
  if (*last > x.output) *last = x.output;
  if (*first > *last) *first = *last;
}

// Call line(tap, channel, kx, oy, iy) for every tap and output line; iy is -1 outside the image.
template <class F>
DL_FN void each_line(const ColumnsShape& shape, const F& line) {
  const Axis y = shape.image.y;
  int64_t tap = 0;
  for (int64_t c = 0; c < shape.image.channels; ++c) {
    for (int64_t ky = 0; ky < y.kernel; ++ky) {
      for (int64_t kx = 0; kx < shape.image.x.kernel; ++kx, ++tap) {
        for (int64_t i = 0; i < y.output; ++i) {
          const int64_t iy = y.start(i) + ky * y.dilation;
          line(tap, c, kx, i, iy >= 0 && iy < y.input ? iy : int64_t(-1));
        }
      }
    }
  }
}

template <class T>
DL_FN void unfold_image(const ColumnsShape& shape, const T* image, T* columns) {
  const Axis x = shape.image.x;
  const int64_t height = shape.image.y.output;
  const T zero = cast<T>(compute_t<T>(0));
  each_line(shape, [&](int64_t tap, int64_t c, int64_t kx, int64_t i, int64_t iy) {
    T* to = columns + (tap * height + i) * x.output;
    int64_t begin = 0, end = 0;
    if (iy >= 0) valid_range(x, kx, &begin, &end);
    for (int64_t ox = 0; ox < begin; ++ox) to[ox] = zero;
    if (begin < end) {
      const T* from =
          image + (c * shape.image.y.input + iy) * x.input + x.start(0) + kx * x.dilation;
      if (x.stride == 1) {
        std::memcpy(static_cast<void*>(to + begin), from + begin,
                    static_cast<size_t>(end - begin) * sizeof(T));
      } else {
        for (int64_t ox = begin; ox < end; ++ox) to[ox] = from[ox * x.stride];
      }
    }
    for (int64_t ox = end; ox < x.output; ++ox) to[ox] = zero;
  });
}

template <class C>
DL_FN void fold_image(const ColumnsShape& shape, const C* columns, C* image) {
  const Axis x = shape.image.x;
  const int64_t height = shape.image.y.output;
  each_line(shape, [&](int64_t tap, int64_t c, int64_t kx, int64_t i, int64_t iy) {
    if (iy < 0) return;
    int64_t begin, end;
    valid_range(x, kx, &begin, &end);
    const C* from = columns + (tap * height + i) * x.output;
    C* to = image + (c * shape.image.y.input + iy) * x.input + x.start(0) + kx * x.dilation;
    if (x.stride == 1) {
      DL_VECTOR_LOOP
      for (int64_t ox = begin; ox < end; ++ox) to[ox] += from[ox];
    } else {
      for (int64_t ox = begin; ox < end; ++ox) to[ox * x.stride] += from[ox];
    }
  });
}

}  // namespace detail

// columns[sample][tap][oy · width + ox] of images[sample][channel][y][x].
template <class T>
void unfold(const Launch& launch, const ColumnsShape& shape, const T* images, T* columns) {
  const int64_t image = shape.image_elements(), size = shape.elements();
  launch.parallel_for(shape.image.samples, grain_for(size), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      detail::unfold_image(shape, images + n * image, columns + n * size);
  });
}

// Add columns to the pixels that they came from.
template <class C>
void fold(const Launch& launch, const ColumnsShape& shape, const C* columns, C* images) {
  const int64_t image = shape.image_elements(), size = shape.elements();
  launch.parallel_for(shape.image.samples, grain_for(size), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      C* const to = images + n * image;
      std::memset(to, 0, static_cast<size_t>(image) * sizeof(C));
      detail::fold_image(shape, columns + n * size, to);
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_COLUMNS_H_
