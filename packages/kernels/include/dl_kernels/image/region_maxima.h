// Maxima of the samples in the bins of regions (RoI align in max mode), and their gradient.
#ifndef DL_KERNELS_IMAGE_REGION_MAXIMA_H_
#define DL_KERNELS_IMAGE_REGION_MAXIMA_H_

#include "dl_kernels/image/regions.h"

DL_KERNELS_BEGIN

// The maximum sample of each bin and its position; -2, -2 if there is none.
template <class C>
struct RegionMaxItem {
  C *out, *places_y, *places_x;
  const C* input;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t bin = item % all.bins(), channel = item / all.bins() % all.channels;
    const int64_t k = item / (all.bins() * all.channels);
    const Region r = all.region(k);
    C best = 0;
    double best_y = -2, best_x = -2;
    const double rows = static_cast<double>(r.rows), columns = static_cast<double>(r.columns);
    const double bin_height = r.height / static_cast<double>(all.pooled_height);
    const double bin_width = r.width / static_cast<double>(all.pooled_width);
    if (r.batch >= 0) {
      const C* plane = input + (r.batch * all.channels + channel) * all.height * all.width;
      for (int64_t i = 0; i < r.rows * r.columns; ++i) {
        const int64_t iy = i / r.columns, ix = i % r.columns;
        const C value = all.sample(r, k, bin, iy, ix).value(plane);
        if (i > 0 && !(value > best) && (value == value || best != best)) continue;
        best = value;
        best_y = r.y + static_cast<double>(bin / all.pooled_width) * bin_height +
                 (static_cast<double>(iy) + 0.5) * bin_height / rows;
        best_x = r.x + static_cast<double>(bin % all.pooled_width) * bin_width +
                 (static_cast<double>(ix) + 0.5) * bin_width / columns;
      }
    }
    out[item] = best;
    places_y[item] = static_cast<C>(best_y);
    places_x[item] = static_cast<C>(best_x);
  }
};

template <class C>
struct RegionMaxGradientItem {
  C* out;
  const C *grad, *places_y, *places_x;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    C* plane = out + item * all.height * all.width;
    for (int64_t k = 0; k < all.count; ++k) {
      if (all.region(k).batch != item / all.channels) continue;
      const int64_t first = (k * all.channels + item % all.channels) * all.bins();
      for (int64_t i = first; i < first + all.bins(); ++i) {
        clamped_cells(static_cast<double>(places_y[i]), static_cast<double>(places_x[i]),
                      all.height, all.width)
            .add(plane, grad[i]);
      }
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGION_MAXIMA_H_
