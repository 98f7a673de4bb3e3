// Gradient of the offsets of bins whose samples are averaged. Source: Dai et al., Deformable
// convolutional networks (deformable RoI pooling, 2017).
#ifndef DL_KERNELS_IMAGE_REGION_OFFSETS_H_
#define DL_KERNELS_IMAGE_REGION_OFFSETS_H_

#include "dl_kernels/image/regions.h"

DL_KERNELS_BEGIN

// Gradient of both offsets of a bin; they move its samples in every channel.
template <class C>
struct RegionOffsetGradientItem {
  C* out;
  const C *grad, *input;
  Regions regions;

  DL_FN void operator()(int64_t item) const {
    const Regions& all = regions;
    const int64_t bin = item % all.bins(), k = item / all.bins(), cells = all.height * all.width;
    const Region r = all.region(k);
    if (r.batch < 0) return;
    const C* planes = input + r.batch * all.channels * cells;
    const C* from = grad + k * all.channels * all.bins() + bin;
    double along_x = 0, along_y = 0;
    for (int64_t iy = 0; iy < r.rows; ++iy) {
      for (int64_t ix = 0; ix < r.columns; ++ix) {
        const BilinearCells around = all.sample(r, k, bin, iy, ix);
        for (int64_t c = 0; c < all.channels; ++c) {
          const auto amount = static_cast<double>(from[c * all.bins()]);
          const C* plane = planes + c * cells;
          along_x += amount * static_cast<double>(around.value_slope_x(plane));
          along_y += amount * static_cast<double>(around.value_slope_y(plane));
        }
      }
    }
    C* to = out + 2 * k * all.bins() + bin;
    const double share = all.gamma / r.samples;
    to[0] += static_cast<C>(share * r.width * along_x);
    to[all.bins()] += static_cast<C>(share * r.height * along_y);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGION_OFFSETS_H_
