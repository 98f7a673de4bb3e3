// Images unfolded into the columns that turn a convolution into a matrix product.
#ifndef DL_KERNELS_COLUMNS_H_
#define DL_KERNELS_COLUMNS_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "dl_kernels/config.h"
#include "dl_kernels/error.h"
#include "dl_kernels/image.h"
#include "dl_kernels/numeric.h"
#include "dl_kernels/tensor_ref.h"

DL_KERNELS_BEGIN

struct ConvShape {
  ImageShape image;
  int64_t filters, groups;
  int64_t group_channels() const { return image.channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return group_channels() * image.y.kernel * image.x.kernel; }
  // The columns of such a convolution are the image itself.
  bool is_pointwise() const {
    return image.y.kernel == 1 && image.x.kernel == 1 && image.y.stride == 1 &&
           image.x.stride == 1 && image.y.padding == 0 && image.x.padding == 0;
  }
  // Output lines per piece: columns should stay in the second-level cache.
  int64_t lines() const {
    const int64_t fitting = 131072 / (taps() * image.x.output + 1);
    return fitting < 1 ? 1 : fitting > image.y.output ? image.y.output : fitting;
  }
};

inline diopiError_t conv_shape(const char* op, const TensorRef& out, const TensorRef& input,
                               const TensorRef& weight, diopiSize_t stride, diopiSize_t padding,
                               diopiSize_t dilation, int64_t groups, ConvShape* shape) {
  if (weight.ndim != 4)
    return fail(op, "the weight has %lld dimensions; it needs 4", (long long)weight.ndim);
  const int64_t one = 1;
  const diopiSize_t kernel{weight.sizes + 2, 2};
  const diopiSize_t steps = stride.len > 0 ? stride : diopiSize_t{&one, 1};
  DL_TRY(image_shape(op, input, out, kernel, steps, padding, dilation, &shape->image));
  shape->filters = weight.sizes[0];
  shape->groups = groups;
  if (groups < 1 || shape->image.channels % groups != 0 || shape->filters % groups != 0 ||
      weight.sizes[1] * groups != shape->image.channels) {
    return fail(
        op, "%lld input channels, %lld filters of %lld channels and %lld groups do not go together",
        (long long)shape->image.channels, (long long)shape->filters, (long long)weight.sizes[1],
        (long long)groups);
  }
  if (out.sizes[out.ndim - 3] != shape->filters ||
      (out.ndim == 4 && out.sizes[0] != shape->image.samples)) {
    return fail(
        op, "the output does not have the samples of the input and the %lld channels of the weight",
        (long long)shape->filters);
  }
  for (const Axis* each : {&shape->image.y, &shape->image.x}) {
    const Axis& axis = *each;
    const int64_t span = axis.input + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
    if (span < 0 || span / axis.stride + 1 != axis.output) {
      return fail(op, "a kernel of %lld on %lld elements does not give %lld outputs",
                  (long long)axis.kernel, (long long)axis.input, (long long)axis.output);
    }
  }
  return diopiSuccess;
}

// The outputs [*first, *last) of a line whose tap `k` lies inside the image.
inline void valid_range(const Axis& x, int64_t k, int64_t* first, int64_t* last) {
  const int64_t shift = k * x.dilation - x.padding;
  *first = shift >= 0 ? 0 : (-shift + x.stride - 1) / x.stride;
  *last = x.input <= shift ? 0 : (x.input - shift + x.stride - 1) / x.stride;
  if (*last > x.output) *last = x.output;
  if (*first > *last) *first = *last;
}

// Calls line(tap, oy, iy) for every tap and output line, iy being -1 outside the image.
template <class F>
void each_line(const ConvShape& shape, int64_t first, int64_t count, const F& line) {
  const Axis& y = shape.image.y;
  int64_t tap = 0;
  for (int64_t c = 0; c < shape.group_channels(); ++c) {
    for (int64_t ky = 0; ky < y.kernel; ++ky) {
      for (int64_t kx = 0; kx < shape.image.x.kernel; ++kx, ++tap) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t iy = y.start(first + i) + ky * y.dilation;
          line(tap, c, kx, i, iy >= 0 && iy < y.input ? iy : int64_t(-1));
        }
      }
    }
  }
}

// columns[tap][line · width + ox] of output lines first … first + count - 1.
template <class T>
void unfold(const ConvShape& shape, const T* image, int64_t first, int64_t count, T* columns) {
  const Axis& x = shape.image.x;
  const T zero = cast<T>(compute_t<T>(0));
  each_line(shape, first, count, [&](int64_t tap, int64_t c, int64_t kx, int64_t i, int64_t iy) {
    T* to = columns + (tap * count + i) * x.output;
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

// Adds columns back to the places of the image that they came from.
template <class C>
void fold(const ConvShape& shape, const C* columns, int64_t first, int64_t count, C* image) {
  const Axis& x = shape.image.x;
  each_line(shape, first, count, [&](int64_t tap, int64_t c, int64_t kx, int64_t i, int64_t iy) {
    if (iy < 0) return;
    int64_t begin, end;
    valid_range(x, kx, &begin, &end);
    const C* from = columns + (tap * count + i) * x.output;
    C* to = image + (c * shape.image.y.input + iy) * x.input + x.start(0) + kx * x.dilation;
    if (x.stride == 1) {
      DL_VECTOR_LOOP
      for (int64_t ox = begin; ox < end; ++ox) to[ox] += from[ox];
    } else {
      for (int64_t ox = begin; ox < end; ++ox) to[ox * x.stride] += from[ox];
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_COLUMNS_H_
