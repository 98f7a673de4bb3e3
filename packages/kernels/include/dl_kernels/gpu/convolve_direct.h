// GPU convolution with small groups, in particular depthwise: a thread computes one result, or a
// block one element of the weight gradient.
#ifndef DL_KERNELS_GPU_CONVOLVE_DIRECT_H_
#define DL_KERNELS_GPU_CONVOLVE_DIRECT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/unfold.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T>
struct ConvolveItem {
  ConvShape shape;
  T* out;
  const T* in;
  const T* weight;
  const T* bias;  // may be null

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    const Axis &z = shape.axes[0], &y = shape.axes[1], &x = shape.axes[2];
    const int64_t p = i % shape.output_plane(), filter = i / shape.output_plane() % shape.filters,
                  sample = i / (shape.output_plane() * shape.filters);
    const int64_t z0 = z.start(p / (x.output * y.output)), y0 = y.start(p / x.output % y.output),
                  x0 = x.start(p % x.output);
    const int64_t channels = shape.group_channels(), plane = shape.input_plane();
    const T* image =
        in + (sample * shape.channels + filter / shape.group_filters() * channels) * plane;
    const T* tap = weight + filter * shape.taps();
    C total = bias == nullptr ? C(0) : cast<C>(bias[filter]);
    for (int64_t c = 0; c < channels; ++c, image += plane) {
      for (int64_t kz = 0; kz < z.kernel; ++kz) {
        const int64_t iz = z0 + kz * z.dilation;
        for (int64_t ky = 0; ky < y.kernel; ++ky) {
          const int64_t iy = y0 + ky * y.dilation;
          const bool on_line = iz >= 0 && iz < z.input && iy >= 0 && iy < y.input;
          const T* const line = image + (iz * y.input + iy) * x.input;
          for (int64_t kx = 0; kx < x.kernel; ++kx, ++tap) {
            const int64_t ix = x0 + kx * x.dilation;
            if (on_line && ix >= 0 && ix < x.input) total += cast<C>(line[ix]) * cast<C>(*tap);
          }
        }
      }
    }
    out[i] = cast<T>(total);
  }
};

template <class T, class O>
struct ConvolveInputItem {
  ConvShape shape;
  O* grad_input;
  const T* grad_output;
  const T* weight;

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t channel = i / shape.input_plane() % shape.channels,
                  sample = i / (shape.input_plane() * shape.channels);
    const int64_t filters = shape.group_filters(), plane = shape.output_plane();
    const int64_t first = channel / shape.group_channels() * filters;
    const T* const grads = grad_output + (sample * shape.filters + first) * plane;
    const T* const taps =
        weight + first * shape.taps() + channel % shape.group_channels() * shape.window();
    C total = 0;
    const int64_t step = shape.taps();
    each_window_on(shape.axes[0], shape.axes[1], shape.axes[2], i % shape.input_plane(),
                   [&](int64_t k, int64_t p) {
                     for (int64_t f = 0; f < filters; ++f)
                       total += cast<C>(grads[f * plane + p]) * cast<C>(taps[f * step + k]);
                   });
    grad_input[i] = cast<O>(total);
  }
};

// Row `i` is an element of the weight.
template <class T>
struct ConvolveWeightRow {
  ConvShape shape;
  T* grad_weight;
  const T* grad_output;
  const T* in;

  template <class B>
  DL_FN void operator()(const B& block, int64_t i) const {
    using C = compute_t<T>;
    const Axis z = shape.axes[0], y = shape.axes[1], x = shape.axes[2];
    const int64_t k = i % shape.window(), filter = i / shape.taps();
    const int64_t channel = filter / shape.group_filters() * shape.group_channels() +
                            i / shape.window() % shape.group_channels();
    const int64_t kz = k / (x.kernel * y.kernel) * z.dilation - z.padding,
                  ky = k / x.kernel % y.kernel * y.dilation - y.padding,
                  kx = k % x.kernel * x.dilation - x.padding;
    const int64_t plane = shape.output_plane(), cells = shape.input_plane();
    const int64_t grad_step = shape.filters * plane, image_step = shape.channels * cells;
    const T* const grads = grad_output + filter * plane;
    const T* const image = in + channel * cells;
    const C total = block.sum(shape.samples * plane, [=](int64_t j) {
      const int64_t sample = j / plane, p = j % plane;
      const int64_t iz = p / (x.output * y.output) * z.stride + kz,
                    iy = p / x.output % y.output * y.stride + ky, ix = p % x.output * x.stride + kx;
      if (iz < 0 || iz >= z.input || iy < 0 || iy >= y.input || ix < 0 || ix >= x.input)
        return C(0);
      return cast<C>(grads[sample * grad_step + p]) *
             cast<C>(image[sample * image_step + (iz * y.input + iy) * x.input + ix]);
    });
    T* const to = grad_weight + i;
    block.map(1, [=](int64_t) { *to = cast<T>(total); });
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CONVOLVE_DIRECT_H_
