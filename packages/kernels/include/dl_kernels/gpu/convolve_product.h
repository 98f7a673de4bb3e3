// Convolutions and their gradients as products of gpu/product_launch.h: the side and the depth of
// each operand.
#ifndef DL_KERNELS_GPU_CONVOLVE_PRODUCT_H_
#define DL_KERNELS_GPU_CONVOLVE_PRODUCT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/gpu/convolve.h"
#include "dl_kernels/gpu/convolve_source.h"
#include "dl_kernels/gpu/product_launch.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T>
class ConvolveProduct {
 public:
  using C = compute_t<T>;

  ConvolveProduct(const Launch& launch, const ConvShape& shape, const ImageSteps& weight)
      : launch_(launch),
        shape_(shape),
        filters_(shape.group_filters()),
        channels_(shape.group_channels()),
        window_(shape.window()),
        weight_(weight) {}

  // Return true if indices and coordinates fit into 31 bits.
  bool fits() const {
    constexpr int64_t kMost = INT32_MAX / 2;
    const int64_t plane =
        shape_.input_plane() > shape_.output_plane() ? shape_.input_plane() : shape_.output_plane();
    const int64_t depth = filters_ > channels_ ? filters_ : channels_;
    if (plane > kMost || shape_.samples > kMost / (plane > 0 ? plane : 1) || window_ > kMost ||
        depth > kMost / window_ || shape_.groups > kMost)
      return false;
    for (const Axis& axis : shape_.axes) {
      if (axis.stride > kMost || axis.dilation > kMost || axis.padding > kMost / 4 ||
          axis.output > kMost / 4 / axis.stride || axis.kernel > kMost / 4 / axis.dilation)
        return false;
    }
    return true;
  }

  void forward(const Images<T>& out, const Images<const T>& in, const T* weight,
               const T* bias) const {
    const bool channels_last = is_channels_last(in, channels_);
    const TensorSource<T> a(weight, filters_ * weight_.sample, weight_.sample,
                            taps_of_weight(weight_.channel, channels_, channels_last), filters_);
    WindowSource<T> b = source(in, channels_, false);
    b.side = positions(in.step.sample, false);
    b.depth = taps(in.step.channel, channels_, false, channels_last);
    b.along_depth = true;
    b.whole = channels_last;
    TensorSink<T> sink = sink_of(out.step, filters_, shape_.output_plane());
    sink.narrow = out.data;
    sink.bias = bias;
    run_product<T>(launch_, shape_.groups, filters_, b.side.count, b.depth.count, a, b, sink);
  }

  // Writes to one of `narrow` and `wide`.
  void input_gradient(const ImageSteps& to, T* narrow, C* wide, const Images<const T>& grad_output,
                      const T* weight) const {
    const bool channels_last = is_channels_last(grad_output, filters_);
    const TensorSource<T> a(weight, filters_ * weight_.sample, weight_.channel,
                            taps_of_weight(weight_.sample, filters_, channels_last), channels_);
    WindowSource<T> b = source(grad_output, filters_, true);
    b.side = positions(grad_output.step.sample, true);
    b.depth = taps(grad_output.step.channel, filters_, true, channels_last);
    b.along_depth = true;
    b.whole = channels_last;
    TensorSink<T> sink = sink_of(to, channels_, shape_.input_plane());
    sink.narrow = narrow;
    sink.wide = wide;
    run_product<T>(launch_, shape_.groups, channels_, b.side.count, b.depth.count, a, b, sink);
  }

  void weight_gradient(T* grad_weight, const Images<const T>& grad_output,
                       const Images<const T>& in) const {
    const bool channels_last = is_channels_last(in, channels_);
    const ImageSteps& from = grad_output.step;
    const TensorSource<T> a(grad_output.data, filters_ * from.channel, from.channel,
                            TwoSteps(from.sample, from.cell, shape_.output_plane(), shape_.samples),
                            filters_);
    WindowSource<T> b = source(in, channels_, false);
    b.side = taps(in.step.channel, channels_, false, channels_last);
    b.depth = positions(in.step.sample, false);
    b.along_depth = !channels_last;
    b.whole = channels_last;
    const TensorSink<T> sink{
        grad_weight,    nullptr,  filters_ * weight_.sample,
        weight_.sample, filters_, taps_of_weight(weight_.channel, channels_, channels_last),
        nullptr};
    run_product<T>(launch_, shape_.groups, filters_, b.side.count, b.depth.count, a, b, sink);
  }

 private:
  // Return true for channels-last images in which a chunk of adjacent channels is a chunk of
  // memory.
  static bool is_channels_last(const Images<const T>& images, int64_t channels) {
    constexpr int kOf = kChunk<T>;
    return images.step.channel == 1 && channels % kOf == 0 && images.step.cell % kOf == 0 &&
           images.step.sample % kOf == 0 &&
           reinterpret_cast<uintptr_t>(images.data) % sizeof(Chunk<T>) == 0;
  }

  // Taps are ordered by position within the window first, or by channel first (for the input
  // gradient, by filter).
  TwoSteps taps_of_weight(int64_t step, int64_t channels, bool channels_last) const {
    return channels_last ? TwoSteps(weight_.cell, step, channels, window_)
                         : TwoSteps(step, weight_.cell, window_, channels);
  }

  WindowIndex taps(int64_t step, int64_t channels, bool backwards, bool channels_last) const {
    WindowIndex index = axes([](const Axis& axis) { return axis.kernel; });
    index.inner = Divider(channels_last ? channels : 1);
    index.outer_step = channels_last ? 0 : step;
    index.inner_step = step;
    index.count = static_cast<int32_t>(channels * window_);
    for (int d = 0; d < 3; ++d) {
      const auto dilation = static_cast<int32_t>(shape_.axes[d].dilation);
      index.times[d] = backwards ? -dilation : dilation;
      index.add[d] = 0;
    }
    return index;
  }

  // Positions of windows; or, backwards, the cells that windows cover.
  WindowIndex positions(int64_t sample_step, bool backwards) const {
    WindowIndex index =
        axes([=](const Axis& axis) { return backwards ? axis.input : axis.output; });
    index.outer_step = sample_step;
    index.inner_step = 0;
    index.count = static_cast<int32_t>(shape_.samples *
                                       (backwards ? shape_.input_plane() : shape_.output_plane()));
    for (int d = 0; d < 3; ++d) {
      const auto padding = static_cast<int32_t>(shape_.axes[d].padding);
      index.times[d] = backwards ? 1 : static_cast<int32_t>(shape_.axes[d].stride);
      index.add[d] = backwards ? padding : -padding;
    }
    return index;
  }

  template <class F>
  WindowIndex axes(const F& extent) const {
    WindowIndex index{};
    index.z = Divider(extent(shape_.axes[0]));
    index.y = Divider(extent(shape_.axes[1]));
    index.x = Divider(extent(shape_.axes[2]));
    return index;
  }

  WindowSource<T> source(const Images<const T>& images, int64_t channels, bool backwards) const {
    WindowSource<T> made{};
    made.data = images.data;
    made.group_step = channels * images.step.channel;
    made.cell_step = images.step.cell;
    for (int d = 0; d < 3; ++d) {
      const Axis& axis = shape_.axes[d];
      made.extents[d] = static_cast<int32_t>(backwards ? axis.output : axis.input);
      made.strides[d] = Divider(backwards ? axis.stride : 1);
      made.strided = made.strided || made.strides[d].by != 1;
    }
    return made;
  }

  TensorSink<T> sink_of(const ImageSteps& step, int64_t channels, int64_t plane) const {
    return {nullptr,      nullptr,  channels * step.channel,
            step.channel, channels, TwoSteps(step.sample, step.cell, plane, shape_.samples),
            nullptr};
  }

  const Launch& launch_;
  ConvShape shape_;
  int64_t filters_, channels_, window_;
  ImageSteps weight_;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CONVOLVE_PRODUCT_H_
