// Sums over all elements of each channel, for the separate steps of batch normalization.
#ifndef DL_KERNELS_NORM_CHANNEL_STEPS_H_
#define DL_KERNELS_NORM_CHANNEL_STEPS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

struct ChannelSizes {
  int64_t batches, channels, cells;
  DL_FN int64_t count() const { return batches * cells; }
  DL_FN int64_t offset_of(int64_t c, int64_t i) const {
    return (i / cells * channels + c) * cells + i % cells;
  }
};

// The mean of a channel, or its variance about a given mean.
struct ChannelMeanRow {
  double* out;
  const double *input, *mean;  // mean may be null
  ChannelSizes s;
  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    const double* const from = input;
    const ChannelSizes sizes = s;
    const double center = mean == nullptr ? 0 : mean[c];
    const bool squares = mean != nullptr;
    const double sum = block.sum(sizes.count(), [=](int64_t i) {
      const double x = from[sizes.offset_of(c, i)] - center;
      return squares ? x * x : x;
    });
    double* const to = out + c;
    block.map(1, [=](int64_t) { *to = sum / static_cast<double>(sizes.count()); });
  }
};

struct ChannelGradientRow {
  double *weight, *bias;
  const double *grad, *norm;
  ChannelSizes s;
  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    const double *const g = grad, *const x = norm;
    const ChannelSizes sizes = s;
    const double by_weight = block.sum(sizes.count(), [=](int64_t i) {
      return g[sizes.offset_of(c, i)] * x[sizes.offset_of(c, i)];
    });
    const double by_bias =
        block.sum(sizes.count(), [=](int64_t i) { return g[sizes.offset_of(c, i)]; });
    double *const to_weight = weight + c, *const to_bias = bias + c;
    block.map(1, [=](int64_t) {
      *to_weight = by_weight;
      *to_bias = by_bias;
    });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_CHANNEL_STEPS_H_
