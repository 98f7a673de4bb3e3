// RoI pooling: the maximum cell of each bin of a region of a feature map, and its gradient. Source:
// Girshick, Fast R-CNN (2015).
#ifndef DL_KERNELS_IMAGE_REGION_CELLS_H_
#define DL_KERNELS_IMAGE_REGION_CELLS_H_

#include <cmath>

#include "dl_kernels/image/regions.h"

DL_KERNELS_BEGIN

// Clamp a position to [0, size]; NaN gives 0.
DL_FN int64_t clipped_cell(double at, int64_t size) {
  if (!(at > 0)) return 0;
  return at < static_cast<double>(size) ? static_cast<int64_t>(at) : size;
}

// Range of cells along one axis that a bin touches.
struct BinCells {
  int64_t begin, end;

  // Bins of equal length between `low` and `high`. Multiplying before dividing keeps an edge on a
  // border between cells exact.
  DL_FN static BinCells of(double low, double high, int64_t bin, int64_t bins, int64_t size) {
    const double length = high - low, all = static_cast<double>(bins);
    if (!(length > 0)) return {0, 0};
    const double begin = low + static_cast<double>(bin) * length / all;
    const double end = low + static_cast<double>(bin + 1) * length / all;
    return {clipped_cell(std::floor(begin), size), clipped_cell(std::ceil(end), size)};
  }
};

// The maximum cell of each bin and its index in the plane; 0 and -1 for a bin without cells.
template <class C>
struct LargestCellItem {
  C* out;
  int32_t* argmax;
  const C* input;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t bin = item % all.bins(), channel = item / all.bins() % all.channels;
    const int64_t k = item / (all.bins() * all.channels), image = all.image_of(k);
    const double* roi = all.rois + 5 * k;
    // Both corners are included in the region.
    const BinCells rows = BinCells::of(roi[2] * all.scale, (roi[4] + 1) * all.scale,
                                       bin / all.pooled_width, all.pooled_height, all.height);
    const BinCells columns = BinCells::of(roi[1] * all.scale, (roi[3] + 1) * all.scale,
                                          bin % all.pooled_width, all.pooled_width, all.width);
    C best = 0;
    int64_t best_cell = -1;
    if (image >= 0) {
      const C* plane = input + (image * all.channels + channel) * all.height * all.width;
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        for (int64_t x = columns.begin; x < columns.end; ++x) {
          const C value = plane[y * all.width + x];
          if (best_cell >= 0 && !(value > best) && (value == value || best != best)) continue;
          best = value;
          best_cell = y * all.width + x;
        }
      }
    }
    out[item] = best;
    argmax[item] = static_cast<int32_t>(best_cell);
  }
};

// All gradients for one plane; one item adds them in the order of the regions.
template <class C>
struct LargestCellGradientItem {
  C* out;
  const C* grad;
  const int64_t* argmax;  // -1 for bins without cells
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    C* plane = out + item * all.height * all.width;
    for (int64_t k = 0; k < all.count; ++k) {
      if (all.image_of(k) != item / all.channels) continue;
      const int64_t first = (k * all.channels + item % all.channels) * all.bins();
      for (int64_t i = first; i < first + all.bins(); ++i) {
        if (argmax[i] >= 0) plane[argmax[i]] += grad[i];
      }
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGION_CELLS_H_
