// Precise RoI pooling: exact integrals of the bilinear surface of feature maps over the bins of
// regions, divided by the area, and their gradients. The surface is the sum of one hat function per
// cell, and 0 beyond the last cells. Source: Jiang et al., Acquisition of localization confidence
// for accurate object detection (2018).
#ifndef DL_KERNELS_IMAGE_REGION_INTEGRALS_H_
#define DL_KERNELS_IMAGE_REGION_INTEGRALS_H_

#include <cmath>

#include "dl_kernels/image/region_cells.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

// Range of a bin along one axis.
struct BinSpan {
  double low, high, length;
  int64_t begin, end;  // cells whose hat functions overlap the bin

  // Bins of equal length between `low` and `high`.
  DL_FN static BinSpan of(double low, double high, int64_t bin, int64_t bins, int64_t size) {
    BinSpan span;
    span.length = high > low ? (high - low) / static_cast<double>(bins) : 0;
    span.low = low + static_cast<double>(bin) * span.length;
    span.high = span.low + span.length;
    span.begin = clipped_cell(std::floor(span.low), size);
    span.end = clipped_cell(std::ceil(span.high) + 1, size);
    return span;
  }

  // Integral of a cell's hat function over the range: on each side of the cell, length times the
  // value at the midpoint.
  DL_FN double integral(int64_t cell) const {
    const double at = static_cast<double>(cell);
    if (low <= at - 1 && at + 1 <= high) return 1;
    const double from = std::fmax(low - at, -1.0), to = std::fmin(high - at, 1.0);
    const double a = std::fmin(to, 0.0), b = std::fmax(from, 0.0);
    double sum = 0;
    if (a > from) sum += (a - from) * (1 + (from + a) / 2);
    if (to > b) sum += (to - b) * (1 - (b + to) / 2);
    return sum;
  }
};

// One bin of a region.
struct RegionBin {
  int64_t image;
  BinSpan rows, columns;

  DL_FN RegionBin(const Regions& all, int64_t k, int64_t bin) {
    const double* roi = all.rois + 5 * k;
    image = all.image_of(k);
    rows = BinSpan::of(roi[2] * all.scale, roi[4] * all.scale, bin / all.pooled_width,
                       all.pooled_height, all.height);
    columns = BinSpan::of(roi[1] * all.scale, roi[3] * all.scale, bin % all.pooled_width,
                          all.pooled_width, all.width);
  }
  DL_FN double area() const { return rows.length * columns.length; }
  DL_FN bool empty() const { return !(area() > 0) || image < 0; }
};

template <class C>
struct RegionIntegralItem {
  C* out;
  const C* input;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t channel = item / all.bins() % all.channels;
    const RegionBin bin(all, item / (all.bins() * all.channels), item % all.bins());
    double sum = 0;
    if (!bin.empty()) {
      const C* plane = input + (bin.image * all.channels + channel) * all.height * all.width;
      for (int64_t y = bin.rows.begin; y < bin.rows.end; ++y) {
        double row = 0;
        for (int64_t x = bin.columns.begin; x < bin.columns.end; ++x)
          row += bin.columns.integral(x) * static_cast<double>(plane[y * all.width + x]);
        sum += bin.rows.integral(y) * row;
      }
      sum /= bin.area();
    }
    out[item] = static_cast<C>(sum);
  }
};

// All gradients for one plane; one item adds them in the order of the regions.
template <class C>
struct RegionIntegralGradientItem {
  C* out;
  const C* grad;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    C* plane = out + item * all.height * all.width;
    for (int64_t k = 0; k < all.count; ++k) {
      if (all.image_of(k) != item / all.channels) continue;
      const C* from = grad + (k * all.channels + item % all.channels) * all.bins();
      for (int64_t b = 0; b < all.bins(); ++b) {
        const RegionBin bin(all, k, b);
        if (bin.empty()) continue;
        const double amount = static_cast<double>(from[b]) / bin.area();
        for (int64_t y = bin.rows.begin; y < bin.rows.end; ++y) {
          const double row = amount * bin.rows.integral(y);
          for (int64_t x = bin.columns.begin; x < bin.columns.end; ++x)
            plane[y * all.width + x] += static_cast<C>(row * bin.columns.integral(x));
        }
      }
    }
  }
};

// Gradient of the corners of a region. Moving an edge of a bin changes the integral by the integral
// along that edge, and changes the area, by which the mean is divided.
template <class C>
struct RegionCornerRow {
  C* out;
  const C *output, *grad, *input;
  Regions regions;

  // Integral along an edge at `at`, over the bin's range on the other axis. `step` and `other` are
  // the strides of the two axes.
  DL_FN static double along(const C* plane, double at, int64_t size, int64_t step,
                            const BinSpan& span, int64_t other) {
    const double whole = std::floor(at), part = at - whole;
    double sum = 0;
    for (int64_t side = 0; side < 2; ++side) {
      const double cell = whole + static_cast<double>(side);
      if (!(cell >= 0 && cell < static_cast<double>(size))) continue;
      const C* line = plane + static_cast<int64_t>(cell) * step;
      double integral = 0;
      for (int64_t i = span.begin; i < span.end; ++i)
        integral += span.integral(i) * static_cast<double>(line[i * other]);
      sum += (side == 0 ? 1 - part : part) * integral;
    }
    return sum;
  }

  // Contribution of a bin to the gradients of the low and of the high corner on one axis.
  DL_FN static Pair<double> corners(const C* plane, const BinSpan& moved, int64_t size,
                                    int64_t step, const BinSpan& other, int64_t other_step,
                                    double mean, double factor, int64_t bin, int64_t bins) {
    const double kept = other.length * mean;
    const double low = kept - along(plane, moved.low, size, step, other, other_step);
    const double high = along(plane, moved.high, size, step, other, other_step) - kept;
    // Positions of the bin's edges relative to the region's edges.
    const double first = static_cast<double>(bin) / static_cast<double>(bins);
    const double second = static_cast<double>(bin + 1) / static_cast<double>(bins);
    return {factor * (low * (1 - first) + high * (1 - second)),
            factor * (low * first + high * second)};
  }

  template <class B>
  DL_FN void operator()(const B& block, int64_t k) const {
    const Regions all = regions;
    const C *means = output, *grads = grad, *planes = input;
    const int64_t count = all.channels * all.bins();
    for (int direction = 0; direction < 2; ++direction) {
      const Pair<double> sums = block.sum_pair(count, [=](int64_t i) -> Pair<double> {
        const int64_t at = i % all.bins(), channel = i / all.bins();
        const RegionBin bin(all, k, at);
        if (bin.empty()) return {0, 0};
        const C* plane = planes + (bin.image * all.channels + channel) * all.height * all.width;
        const double mean = static_cast<double>(means[k * count + i]);
        const double factor = static_cast<double>(grads[k * count + i]) * all.scale / bin.area();
        return direction == 0 ? corners(plane, bin.columns, all.width, 1, bin.rows, all.width, mean,
                                        factor, at % all.pooled_width, all.pooled_width)
                              : corners(plane, bin.rows, all.height, all.width, bin.columns, 1,
                                        mean, factor, at / all.pooled_width, all.pooled_height);
      });
      C* to = out + 5 * k + 1 + direction;
      block.map(1, [=](int64_t) {
        to[0] += static_cast<C>(sums.first);
        to[2] += static_cast<C>(sums.second);
      });
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGION_INTEGRALS_H_
