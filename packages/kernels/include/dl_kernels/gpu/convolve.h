// GPU convolution without a library: images are unfolded into columns in scratch memory, a bounded
// part at a time, and multiplied by the matrix product that the vendor has. Small groups, whose
// matrices would be slivers, are added up directly. Images and weights are dense and row-major.
#ifndef DL_KERNELS_GPU_CONVOLVE_H_
#define DL_KERNELS_GPU_CONVOLVE_H_

#include <algorithm>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/gpu/convolve_direct.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/unfold.h"
#include "dl_kernels/matrix/gemm.h"

DL_KERNELS_BEGIN

// No kernel is too long.
inline bool convolution_fits(const ConvShape&) { return true; }

namespace gpu {

// Less work for each position than a tile of a product has.
inline bool in_small_groups(const ConvShape& shape) {
  constexpr int64_t kSmall = 256;
  return shape.groups > 1 && shape.group_channels() * shape.group_filters() < kSmall;
}

// The most items of `elements` each that scratch memory takes at a time; at least 1.
inline int64_t at_once(int64_t elements, int64_t items) {
  const int64_t fitting = kScratchElements / std::max<int64_t>(elements, 1);
  return std::max<int64_t>(std::min(fitting, items), 1);
}

inline WindowedImages input_images(const ConvShape& shape) {
  return {shape.axes[0], shape.axes[1], shape.axes[2], shape.channels,
          shape.channels * shape.input_plane()};
}

// The output, each cell a window of its own: unfolded, it is a matrix with a row for each filter.
inline WindowedImages output_images(const ConvShape& shape) {
  const auto cells = [](const Axis& axis) { return Axis{axis.output, axis.output, 1, 1, 0, 1}; };
  return {cells(shape.axes[0]), cells(shape.axes[1]), cells(shape.axes[2]), shape.filters,
          shape.filters * shape.output_plane()};
}

// A matrix with `count` columns for positions from `first` on.
template <class T>
void unfold_positions(const Launch& launch, const WindowedImages& images, const T* from,
                      int64_t first, int64_t count, T* columns) {
  using U = bits_t<T>;
  each(launch, images.channels * count, 1,
       UnfoldItem<U>{images,
                     {images.positions(), count},
                     reinterpret_cast<const U*>(from),
                     reinterpret_cast<U*>(columns),
                     first,
                     count});
}

// The row-major matrix of `filters` × `count` products as elements of the output.
template <class T>
struct SpreadItem {
  T* out;
  const compute_t<T>* products;
  const T* bias;  // may be null
  int64_t filters, plane, first, count;

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t filter = i / count, position = first + i % count;
    const C shift = bias == nullptr ? C(0) : cast<C>(bias[filter]);
    out[(position / plane * filters + filter) * plane + position % plane] =
        cast<T>(products[i] + shift);
  }
};

template <class T>
struct RoundItem {
  T* out;
  const compute_t<T>* sums;
  DL_FN void operator()(int64_t i) const { out[i] = cast<T>(sums[i]); }
};

}  // namespace gpu

template <class T>
void convolve(const Launch& launch, const ConvShape& shape, T* out, const T* in, const T* weight,
              const T* bias) {
  using C = compute_t<T>;
  const int64_t filters = shape.group_filters(), taps = shape.taps(), plane = shape.output_plane();
  const int64_t positions = shape.samples * plane;
  if (gpu::in_small_groups(shape)) {
    each(launch, shape.filters * positions, taps,
         gpu::ConvolveItem<T>{shape, out, in, weight, bias});
    return;
  }
  const gpu::WindowedImages images = gpu::input_images(shape);
  const int64_t lines = shape.groups * taps;
  const int64_t step = gpu::at_once(std::max(lines, shape.filters), positions);
  const Workspace<T> columns(launch, lines * step);
  const Workspace<C> products(launch, shape.filters * step);
  for (int64_t first = 0; first < positions; first += step) {
    const int64_t count = std::min(step, positions - first);
    gpu::unfold_positions(launch, images, in, first, count, columns.data());
    for (int64_t g = 0; g < shape.groups; ++g) {
      gemm<T, C>(launch, filters, count, taps, C(1),
                 Matrix<const T>{weight + g * filters * taps, taps, 1},
                 Matrix<const T>{columns.data() + g * taps * count, count, 1}, C(0),
                 Matrix<C>{products.data() + g * filters * count, count, 1});
    }
    each(launch, shape.filters * count, 1,
         gpu::SpreadItem<T>{out, products.data(), bias, shape.filters, plane, first, count});
  }
}

// The columns' gradients, a product of the weights and the output's, folded: whole samples of as
// many channels at a time as scratch memory takes.
template <class T, class O>
void convolve_input_gradient(const Launch& launch, const ConvShape& shape, O* grad_input,
                             const T* grad_output, const T* weight) {
  using C = compute_t<T>;
  const int64_t filters = shape.group_filters(), channels = shape.group_channels();
  const int64_t taps = shape.taps(), window = shape.window(), plane = shape.output_plane();
  const int64_t cells = shape.input_plane();
  if (gpu::in_small_groups(shape)) {
    each(launch, shape.samples * shape.channels * cells, filters * window,
         gpu::ConvolveInputItem<T, O>{shape, grad_input, grad_output, weight});
    return;
  }
  const int64_t channel_step = gpu::at_once(window * plane, channels);
  const int64_t lines = std::max(channel_step * window, shape.filters);
  const int64_t sample_step = gpu::at_once(lines * plane, shape.samples);
  const Workspace<T> grads(launch, shape.filters * sample_step * plane);
  const Workspace<C> columns(launch, channel_step * window * sample_step * plane);
  gpu::WindowedImages images = gpu::input_images(shape);
  for (int64_t s = 0; s < shape.samples; s += sample_step) {
    const int64_t samples = std::min(sample_step, shape.samples - s), count = samples * plane;
    gpu::unfold_positions(launch, gpu::output_images(shape), grad_output, s * plane, count,
                          grads.data());
    for (int64_t c = 0; c < shape.channels; c += images.channels) {
      const int64_t group = c / channels, first = c % channels;
      images.channels = std::min(channel_step, channels - first);
      const int64_t rows = images.channels * window;
      gemm<T, C>(launch, rows, count, filters, C(1),
                 Matrix<const T>{weight + group * filters * taps + first * window, 1, taps},
                 Matrix<const T>{grads.data() + group * filters * count, count, 1}, C(0),
                 Matrix<C>{columns.data(), count, 1});
      each(launch, samples * images.channels * cells, window,
           gpu::FoldItem<C, O>{images,
                               {plane, count},
                               columns.data(),
                               grad_input + (s * shape.channels + c) * cells});
    }
  }
}

template <class T>
void convolve_weight_gradient(const Launch& launch, const ConvShape& shape, T* grad_weight,
                              const T* grad_output, const T* in) {
  using C = compute_t<T>;
  const int64_t filters = shape.group_filters(), taps = shape.taps(), plane = shape.output_plane();
  const int64_t positions = shape.samples * plane, size = shape.filters * taps;
  if (gpu::in_small_groups(shape) || positions == 0) {
    rows(launch, size, positions, gpu::ConvolveWeightRow<T>{shape, grad_weight, grad_output, in});
    return;
  }
  const gpu::WindowedImages images = gpu::input_images(shape);
  const int64_t lines = shape.groups * taps;
  const int64_t step = gpu::at_once(std::max(lines, shape.filters), positions);
  const Workspace<T> columns(launch, lines * step), grads(launch, shape.filters * step);
  const Workspace<C> sums(launch, size);
  for (int64_t first = 0; first < positions; first += step) {
    const int64_t count = std::min(step, positions - first);
    gpu::unfold_positions(launch, images, in, first, count, columns.data());
    gpu::unfold_positions(launch, gpu::output_images(shape), grad_output, first, count,
                          grads.data());
    for (int64_t g = 0; g < shape.groups; ++g) {
      gemm<T, C>(launch, filters, taps, count, C(1),
                 Matrix<const T>{grads.data() + g * filters * count, count, 1},
                 Matrix<const T>{columns.data() + g * taps * count, 1, count},
                 first == 0 ? C(0) : C(1), Matrix<C>{sums.data() + g * filters * taps, taps, 1});
    }
  }
  each(launch, size, 1, gpu::RoundItem<T>{grad_weight, sums.data()});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CONVOLVE_H_
