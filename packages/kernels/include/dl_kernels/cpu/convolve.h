// CPU convolution: matrix products whose operands are packed directly from the images (implicit
// im2col), so nothing is unfolded in memory and all samples share the packed weights. Images and
// weights are contiguous.
#ifndef DL_KERNELS_CPU_CONVOLVE_H_
#define DL_KERNELS_CPU_CONVOLVE_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/cpu/gemm.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/window.h"

DL_KERNELS_BEGIN

// Return false for kernels that are too long on an axis.
inline bool convolution_fits(const ConvShape& shape) {
  for (const Axis& axis : shape.axes) {
    if (axis.kernel > detail::kMaxWindow) return false;
  }
  return true;
}

namespace detail {

// Positions per product: the operands packed for them should stay in the caches.
inline constexpr int64_t kPositions = 2048;

// The window of the forward convolution over its input.
inline TapWindow forward_window(const ConvShape& shape) {
  TapWindow window{};
  for (int i = 0; i < 3; ++i) {
    const Axis& axis = shape.axes[i];
    window.axes[i] = {axis.input, axis.output, axis.stride, static_cast<int>(axis.kernel), {}};
    for (int64_t k = 0; k < axis.kernel; ++k)
      window.axes[i].shift[k] = k * axis.dilation - axis.padding;
  }
  window.channels = shape.group_channels();
  window.channel_step = shape.input_plane();
  window.sample_step = shape.channels * shape.input_plane();
  return window;
}

// Call f(group, first position, count) for pieces of all positions, in parallel if there are
// several.
template <class F>
void each_piece(const Launch& launch, int64_t groups, int64_t positions, const F& f) {
  const int64_t pieces = (positions + kPositions - 1) / kPositions;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % pieces * kPositions;
      f(task / pieces, first, positions - first < kPositions ? positions - first : kPositions);
    }
  };
  if (groups * pieces == 1) {
    run(0, 1);  // the product itself is multithreaded
  } else {
    launch.parallel_for(groups * pieces, 1, run);
  }
}

// The positions of the input gradient that are congruent to `residue` modulo the stride: they are
// reached by the same taps and read consecutive elements of the output gradient.
struct Residue {
  int count = 0;  // taps
  int64_t positions = 0;
  int64_t tap[kMaxWindow], shift[kMaxWindow];

  Residue(const Axis& axis, int64_t residue) {
    positions = (axis.input - residue + axis.stride - 1) / axis.stride;
    if (positions < 0) positions = 0;
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t distance = residue + axis.padding - k * axis.dilation;
      if (distance % axis.stride != 0) continue;
      tap[count] = k;
      shift[count++] = distance / axis.stride;
    }
  }
};

// Rearrange weights for the input gradient: to[channel][filter][tap], for the taps in `parts`.
template <class T>
void gather_weights(const ConvShape& shape, const T* weight, const Residue* const (&parts)[3],
                    T* to) {
  const int64_t channels = shape.group_channels(), window = shape.window();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t f = 0; f < shape.group_filters(); ++f) {
      const T* from = weight + (f * channels + c) * window;
      for (int z = 0; z < parts[0]->count; ++z) {
        for (int y = 0; y < parts[1]->count; ++y) {
          const T* line = from + (parts[0]->tap[z] * shape.axes[1].kernel + parts[1]->tap[y]) *
                                     shape.axes[2].kernel;
          for (int x = 0; x < parts[2]->count; ++x) *to++ = line[parts[2]->tap[x]];
        }
      }
    }
  }
}

template <class T, class O>
void input_gradient_part(const Launch& launch, const ConvShape& shape, O* grad_input,
                         const T* grad_output, const T* weight, const int64_t (&residue)[3]) {
  using C = compute_t<T>;
  const Residue depth(shape.axes[0], residue[0]), height(shape.axes[1], residue[1]),
      width(shape.axes[2], residue[2]);
  const Residue* const parts[3] = {&depth, &height, &width};
  TapWindow window{};
  for (int i = 0; i < 3; ++i) {
    const Residue& part = *parts[i];
    window.axes[i] = {shape.axes[i].output, part.positions, 1, part.count, {}};
    for (int k = 0; k < part.count; ++k) window.axes[i].shift[k] = part.shift[k];
  }
  window.channels = shape.group_filters();
  window.channel_step = shape.output_plane();
  window.sample_step = shape.filters * shape.output_plane();
  const int64_t positions = shape.samples * window.positions(), taps = window.taps();
  if (positions == 0) return;
  const int64_t channels = shape.group_channels(),
                size = shape.filters * shape.taps() / shape.groups;
  const Workspace<T> gathered(launch, shape.groups * channels * taps);
  launch.parallel_for(shape.groups, grain_for(size), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g)
      gather_weights(shape, weight + g * size, parts, gathered.data() + g * channels * taps);
  });
  each_piece(launch, shape.groups, positions, [&](int64_t group, int64_t first, int64_t count) {
    const Columns<T> columns{
        window, grad_output + group * shape.group_filters() * window.channel_step, first};
    const ImageTarget<O> target{window,
                                grad_input + group * channels * shape.input_plane(),
                                first,
                                shape.input_plane(),
                                shape.channels * shape.input_plane(),
                                {shape.axes[0].stride, shape.axes[1].stride, shape.axes[2].stride},
                                {residue[0], residue[1], residue[2]},
                                shape.axes[1].input,
                                shape.axes[2].input};
    gemm_blocked<O, C>(launch, channels, count, taps, C(1),
                       Lines<T>{gathered.data() + group * channels * taps, taps, 1}, columns, C(0),
                       target);
  });
}

}  // namespace detail

template <class T>
void convolve(const Launch& launch, const ConvShape& shape, T* out, const T* in, const T* weight,
              const T* bias) {
  using C = compute_t<T>;
  const detail::TapWindow window = detail::forward_window(shape);
  const int64_t filters = shape.group_filters(), plane = shape.output_plane();
  if (bias != nullptr) {
    launch.parallel_for(shape.samples * shape.filters, grain_for(plane),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const T value = bias[i % shape.filters];
                            for (int64_t p = 0; p < plane; ++p) out[i * plane + p] = value;
                          }
                        });
  }
  detail::each_piece(
      launch, shape.groups, shape.samples * plane,
      [&](int64_t group, int64_t first, int64_t count) {
        const detail::Columns<T> columns{window, in + group * window.channels * window.channel_step,
                                         first};
        const detail::ImageTarget<T> target{
            window,    out + group * filters * plane, first,
            plane,     shape.filters * plane,         {1, 1, 1},
            {0, 0, 0}, shape.axes[1].output,          shape.axes[2].output};
        detail::gemm_blocked<T, C>(
            launch, filters, count, window.taps(), C(1),
            detail::Lines<T>{weight + group * filters * shape.taps(), shape.taps(), 1}, columns,
            bias == nullptr ? C(0) : C(1), target);
      });
}

// One product for each residue of the position modulo the stride.
template <class T, class O>
void convolve_input_gradient(const Launch& launch, const ConvShape& shape, O* grad_input,
                             const T* grad_output, const T* weight) {
  const int64_t size = shape.samples * shape.channels * shape.input_plane();
  // Positions that no tap reaches are not written below.
  launch.parallel_for(size, kParallelGrain, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<void*>(grad_input + begin), 0,
                static_cast<size_t>(end - begin) * sizeof(O));
  });
  int64_t residue[3];
  for (residue[0] = 0; residue[0] < shape.axes[0].stride; ++residue[0]) {
    for (residue[1] = 0; residue[1] < shape.axes[1].stride; ++residue[1]) {
      for (residue[2] = 0; residue[2] < shape.axes[2].stride; ++residue[2])
        detail::input_gradient_part(launch, shape, grad_input, grad_output, weight, residue);
    }
  }
}

// Positions are summed in at most four fixed pieces, so the result does not depend on the number of
// threads.
template <class T>
void convolve_weight_gradient(const Launch& launch, const ConvShape& shape, T* grad_weight,
                              const T* grad_output, const T* in) {
  using C = compute_t<T>;
  const detail::TapWindow window = detail::forward_window(shape);
  const int64_t filters = shape.group_filters(), taps = shape.taps(), plane = shape.output_plane();
  const int64_t positions = shape.samples * plane, size = shape.filters * taps;
  if (positions == 0) {
    clear_bytes(launch, grad_weight, size * static_cast<int64_t>(sizeof(T)));
    return;
  }
  const int64_t wanted = positions / detail::kPositions + 1, pieces = wanted < 4 ? wanted : 4;
  const int64_t piece = (positions + pieces - 1) / pieces;
  const Workspace<C> parts(launch, pieces * size);
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / pieces, first = task % pieces * piece;
      const int64_t count = positions - first < piece ? positions - first : piece;
      const detail::TapPlanes<T> left{grad_output + group * filters * plane, plane,
                                      shape.filters * plane, first};
      const detail::Taps<T> right{window, in + group * window.channels * window.channel_step,
                                  first};
      C* to = parts.data() + task % pieces * size + group * filters * taps;
      detail::gemm_blocked<C, C>(launch, filters, taps, count, C(1), left, right, C(0),
                                 detail::MatrixTarget<C>{{to, taps, 1}});
    }
  };
  if (shape.groups * pieces == 1) {
    run(0, 1);
  } else {
    launch.parallel_for(shape.groups * pieces, 1, run);
  }
  launch.parallel_for(size, grain_for(pieces), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      C total = parts.data()[i];
      for (int64_t p = 1; p < pieces; ++p) total += parts.data()[p * size + i];
      grad_weight[i] = cast<T>(total);
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_CONVOLVE_H_
