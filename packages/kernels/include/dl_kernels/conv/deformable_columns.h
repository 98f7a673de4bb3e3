// im2col of a deformable convolution - a row of `count` positions for each channel and kernel
// position - and its gradients.
#ifndef DL_KERNELS_CONV_DEFORMABLE_COLUMNS_H_
#define DL_KERNELS_CONV_DEFORMABLE_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/deformable_samples.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

namespace detail {

// Positions and channels of a block; each sampling location is computed once for all channels of
// the block.
inline constexpr int64_t kSampledPositions = 256, kSampledChannels = 64;

// Row r of the work: a range of positions, a range of channels, a tap and a deformable group.
struct DeformablePart {
  int64_t group, tap, first, count, channel, last_channel;

  DL_FN DeformablePart(const DeformableShape& shape, int64_t positions, bool all_channels,
                       int64_t r) {
    const int64_t depth = shape.deformable_channels();
    const int64_t parts = all_channels ? 1 : channel_parts(shape);
    const int64_t pieces = pieces_of(positions);
    first = r % pieces * kSampledPositions;
    count = positions - first < kSampledPositions ? positions - first : kSampledPositions;
    tap = r / pieces % shape.window();
    const int64_t part = r / pieces / shape.window() % parts;
    group = r / pieces / shape.window() / parts;
    channel = group * depth + part * kSampledChannels;
    last_channel = (group + 1) * depth;
    if (!all_channels && channel + kSampledChannels < last_channel)
      last_channel = channel + kSampledChannels;
  }

  DL_FN static int64_t pieces_of(int64_t positions) {
    return (positions + kSampledPositions - 1) / kSampledPositions;
  }
  DL_FN static int64_t channel_parts(const DeformableShape& shape) {
    return (shape.deformable_channels() + kSampledChannels - 1) / kSampledChannels;
  }
};

template <class C>
struct DeformableColumnsRow {
  C* columns;
  const C* image;
  DeformableSamples<C> samples;
  int64_t first, count;

  template <class B>
  DL_FN void operator()(const B& block, int64_t r, DeformableSample<C>* buffer) const {
    const DeformableShape shape = samples.shape;
    const DeformablePart part(shape, count, false, r);
    const DeformableSamples<C> from = samples;
    const int64_t begin = first + part.first, group = part.group, tap = part.tap;
    block.map(part.count, [=](int64_t i) {
      buffer[i] =
          DeformableSample<C>(from.cells(group, tap, begin + i), from.share(group, tap, begin + i));
    });
    for (int64_t c = part.channel; c < part.last_channel; ++c) {
      const C* const plane = image + c * shape.cells();
      C* const to = columns + (c * shape.window() + tap) * count + part.first;
      block.map(part.count, [=](int64_t i) { to[i] = buffer[i].value(plane); });
    }
  }
};

// Gradient sums of one sampling location over its channels.
template <class C>
struct DeformableSlopes {
  int64_t at[4];
  C low_y, high_y, low_x, high_x;  // interpolation weights of the rows and columns of cells
  C value, by_y, by_x;

  DeformableSlopes() = default;
  // A cell's weight is the product of its row's and its column's weight, each of which is the slope
  // with respect to the other coordinate.
  DL_FN explicit DeformableSlopes(const BilinearCells& cells) : value(0), by_y(0), by_x(0) {
    for (int k = 0; k < 4; ++k) at[k] = cells.at[k];
    high_y = static_cast<C>(cells.slope_x[3]);
    low_y = static_cast<C>(cells.slope_x[1]);
    high_x = static_cast<C>(cells.slope_y[3]);
    low_x = static_cast<C>(cells.slope_y[2]);
  }
  DL_FN void add(const C* plane, C grad) {
    C v[4];
    for (int k = 0; k < 4; ++k) v[k] = at[k] >= 0 ? plane[at[k]] : C(0);
    const C low = low_x * v[0] + high_x * v[1], high = low_x * v[2] + high_x * v[3];
    value += grad * (low_y * low + high_y * high);
    by_y += grad * (high - low);
    by_x += grad * (low_y * (v[1] - v[0]) + high_y * (v[3] - v[2]));
  }
};

template <class C>
struct DeformableOffsetRow {
  C *to_offset, *to_mask;  // of the image, laid out as in DeformableSamples; `to_mask` may be null
  const C *columns, *image;
  DeformableSamples<C> samples;
  int64_t first, count;

  template <class B>
  DL_FN void operator()(const B& block, int64_t r, DeformableSlopes<C>* buffer) const {
    const DeformableShape shape = samples.shape;
    const DeformablePart part(shape, count, true, r);
    const DeformableSamples<C> from = samples;
    const int64_t begin = first + part.first, group = part.group, tap = part.tap;
    block.map(part.count, [=](int64_t i) {
      buffer[i] = DeformableSlopes<C>(from.cells(group, tap, begin + i));
    });
    for (int64_t c = part.channel; c < part.last_channel; ++c) {
      const C* const plane = image + c * shape.cells();
      const C* const grads = columns + (c * shape.window() + tap) * count + part.first;
      block.map(part.count, [=](int64_t i) { buffer[i].add(plane, grads[i]); });
    }
    const int64_t positions = shape.positions(), line = group * shape.window() + tap;
    C* const move = to_offset + line * 2 * positions + begin;
    C* const share = to_mask == nullptr ? nullptr : to_mask + line * positions + begin;
    block.map(part.count, [=](int64_t i) {
      const C scale = from.share(group, tap, begin + i);
      move[i] += scale * buffer[i].by_y;
      move[positions + i] += scale * buffer[i].by_x;
      if (share != nullptr) share[i] += buffer[i].value;
    });
  }
};

}  // namespace detail

// columns[channel · window + tap][i] = the sample at position `first` + i, times its mask.
template <class C>
void deformable_columns(const Launch& launch, const DeformableSamples<C>& samples, const C* image,
                        int64_t first, int64_t count, C* columns) {
  using Part = detail::DeformablePart;
  const DeformableShape& shape = samples.shape;
  const int64_t parts = shape.deformable_groups * Part::channel_parts(shape);
  rows_with_buffer<DeformableSample<C>>(
      launch, Part::pieces_of(count) * shape.window() * parts,
      detail::kSampledPositions * (50 + 10 * detail::kSampledChannels), detail::kSampledPositions,
      detail::DeformableColumnsRow<C>{columns, image, samples, first, count});
}

// Accumulate the gradients of offsets and masks from the columns' gradients.
template <class C>
void deformable_offset_gradient(const Launch& launch, const DeformableSamples<C>& samples,
                                const C* image, int64_t first, int64_t count, const C* columns,
                                C* to_offset, C* to_mask) {
  const DeformableShape& shape = samples.shape;
  rows_with_buffer<detail::DeformableSlopes<C>>(
      launch, detail::DeformablePart::pieces_of(count) * shape.window() * shape.deformable_groups,
      detail::kSampledPositions * (50 + 15 * shape.deformable_channels()),
      detail::kSampledPositions,
      detail::DeformableOffsetRow<C>{to_offset, to_mask, columns, image, samples, first, count});
}

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_DEFORMABLE_COLUMNS_H_
