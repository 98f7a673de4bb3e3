// RoI align: regions of feature maps, divided into bins with a grid of samples in each; averages of
// the samples, and their gradient. Regions may be rotated, bins may have offsets, and channels may
// stand for orientations, which rotate with the region.
#ifndef DL_KERNELS_IMAGE_REGIONS_H_
#define DL_KERNELS_IMAGE_REGIONS_H_

#include <cmath>

#include "dl_kernels/base/wide.h"
#include "dl_kernels/image/bilinear.h"
#include "dl_kernels/parallel/check.h"

DL_KERNELS_BEGIN

// Upper bound of the samples along a side of a bin.
inline constexpr int64_t kMostSamples = 4096;

struct Region {
  int64_t batch;  // -1: invalid image
  double y, x, height, width, center_y, center_x, c, s;
  int64_t rows, columns;
  double samples;
  int64_t direction;
  double later;  // fraction of the way from that orientation to the next
};

// Format of a row of `rois`: batch index and x1, y1, x2, y2, or batch index and center x, y, width,
// height, angle.
struct Regions {
  const double* rois;
  const double* offset;  // offsets x and y of each bin; may be null
  int64_t count, batches, channels, height, width, pooled_height, pooled_width, sampling_ratio;
  int64_t directions;
  double scale, shift, least, gamma;
  bool rotated, clockwise;

  DL_FN int64_t bins() const { return pooled_height * pooled_width; }
  // Return the image of a region, or -1 if the index is invalid.
  DL_FN int64_t image_of(int64_t k) const {
    const double batch = rois[k * (rotated ? 6 : 5)];
    return batch >= 0 && batch < static_cast<double>(batches) ? static_cast<int64_t>(batch) : -1;
  }
  DL_FN static int64_t samples_along(double size, int64_t wanted) {
    if (wanted > 0) return wanted;
    const double needed = std::ceil(size);
    if (!(needed > 0)) return 0;
    return needed < static_cast<double>(kMostSamples) ? static_cast<int64_t>(needed) : kMostSamples;
  }
  DL_FN Region region(int64_t k) const {
    const double* numbers = rois + k * (rotated ? 6 : 5);
    Region r;
    r.batch = image_of(k);
    const double first = numbers[1] * scale - shift, second = numbers[2] * scale - shift;
    r.width = rotated ? numbers[3] * scale : numbers[3] * scale - shift - first;
    r.height = rotated ? numbers[4] * scale : numbers[4] * scale - shift - second;
    if (r.width < least) r.width = least;
    if (r.height < least) r.height = least;
    double angle = rotated ? numbers[5] : 0;
    if (clockwise) angle = -angle;
    r.c = rotated ? std::cos(angle) : 1;
    r.s = rotated ? std::sin(angle) : 0;
    r.x = rotated ? -r.width / 2 : first;
    r.y = rotated ? -r.height / 2 : second;
    r.center_x = rotated ? first : 0;
    r.center_y = rotated ? second : 0;
    r.rows = samples_along(r.height / static_cast<double>(pooled_height), sampling_ratio);
    r.columns = samples_along(r.width / static_cast<double>(pooled_width), sampling_ratio);
    const auto taken = static_cast<double>(r.rows * r.columns);
    r.samples = taken > 1 ? taken : 1;
    r.direction = 0;
    r.later = 0;
    if (directions > 1) {
      constexpr double kTurn = 6.283185307179586;
      const auto all = static_cast<double>(directions);
      // Uses the angle as given, independently of `clockwise`, like MMCV's riroi_align_rotated.
      const double orientation = (rotated ? numbers[5] : 0) * all / kTurn,
                   lower = std::floor(orientation);
      r.later = orientation - lower;
      const double wrapped = lower - std::floor(lower / all) * all;
      r.direction = wrapped >= 0 && wrapped < all ? static_cast<int64_t>(wrapped) : 0;
    }
    return r;
  }
  DL_FN BilinearCells sample(const Region& r, int64_t k, int64_t bin, int64_t iy,
                             int64_t ix) const {
    const double bin_height = r.height / static_cast<double>(pooled_height);
    const double bin_width = r.width / static_cast<double>(pooled_width);
    double y = r.y + static_cast<double>(bin / pooled_width) * bin_height +
               (static_cast<double>(iy) + 0.5) * bin_height / static_cast<double>(r.rows);
    double x = r.x + static_cast<double>(bin % pooled_width) * bin_width +
               (static_cast<double>(ix) + 0.5) * bin_width / static_cast<double>(r.columns);
    if (offset != nullptr) {
      x += gamma * r.width * offset[2 * k * bins() + bin];
      y += gamma * r.height * offset[(2 * k + 1) * bins() + bin];
    }
    if (rotated) {
      const double along = x;
      x = y * r.s + along * r.c + r.center_x;
      y = y * r.c - along * r.s + r.center_y;
    }
    return clamped_cells(y, x, height, width);
  }
  // Return the input channel of an output channel, rotated within its group of orientations.
  DL_FN int64_t rotated_channel(int64_t channel, const Region& r, int64_t more) const {
    const int64_t group = channel / directions * directions;
    return group + (channel - group - r.direction + more + directions) % directions;
  }
};

template <class C>
struct RegionMeanItem {
  C* out;
  const C* input;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t bin = item % all.bins(), channel = item / all.bins() % all.channels;
    const int64_t k = item / (all.bins() * all.channels);
    const Region r = all.region(k);
    C sum = 0;
    const int64_t cells = all.height * all.width;
    for (int64_t more = 0; more < (r.later > 0 ? 2 : 1) && r.batch >= 0; ++more) {
      const C* plane =
          input + (r.batch * all.channels + all.rotated_channel(channel, r, more)) * cells;
      C part = 0;
      for (int64_t iy = 0; iy < r.rows; ++iy) {
        for (int64_t ix = 0; ix < r.columns; ++ix)
          part += all.sample(r, k, bin, iy, ix).value(plane);
      }
      sum += static_cast<C>(more == 0 ? 1 - r.later : r.later) * part;
    }
    out[item] = sum / static_cast<C>(r.samples);
  }
};

// All gradients for one plane; one item adds them in the order of the regions.
template <class C>
struct RegionMeanGradientItem {
  C* out;
  const C* grad;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t cells = all.height * all.width, source = item % all.channels;
    C* plane = out + item * cells;
    for (int64_t k = 0; k < all.count; ++k) {
      const Region r = all.region(k);
      if (r.batch != item / all.channels) continue;
      for (int64_t more = 0; more < (r.later > 0 ? 2 : 1); ++more) {
        const int64_t group = source / all.directions * all.directions;
        const int64_t channel =
            group + (source - group + r.direction - more + all.directions) % all.directions;
        const C* from = grad + (k * all.channels + channel) * all.bins();
        const double part = (more == 0 ? 1 - r.later : r.later) / r.samples;
        for (int64_t bin = 0; bin < all.bins(); ++bin) {
          const C amount = from[bin] * static_cast<C>(part);
          for (int64_t iy = 0; iy < r.rows; ++iy) {
            for (int64_t ix = 0; ix < r.columns; ++ix)
              all.sample(r, k, bin, iy, ix).add(plane, amount);
          }
        }
      }
    }
  }
};

namespace detail {

struct NoImage {
  const double* rois;
  int64_t columns, batches;

  DL_FN bool operator()(int64_t k) const {
    const double batch = rois[k * columns];
    return !(batch >= 0 && batch < static_cast<double>(batches));
  }
  DL_FN void describe(int64_t k, dl_device_error_t& error) const {
    const double batch = rois[k * columns];
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "batch number {value} of region {position} is out of range [{low}, {high})");
    error.value = batch > -1e15 && batch < 1e15 ? static_cast<int64_t>(batch) : -1;
    error.position = k;
    error.low = 0;
    error.high = batches;
  }
};

}  // namespace detail

inline diopiError_t check_rois(const Launch& launch, const char* op, const double* rois,
                               int64_t count, int64_t columns, int64_t batches) {
  return check_items(launch, op, count, detail::NoImage{rois, columns, batches});
}

inline diopiError_t check_samples(const char* op, int64_t sampling_ratio) {
  if (sampling_ratio <= kMostSamples) return diopiSuccess;
  return fail(op, "sampling_ratio is %lld; at most %lld samples per side of a bin are supported",
              (long long)sampling_ratio, (long long)kMostSamples);
}

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGIONS_H_
