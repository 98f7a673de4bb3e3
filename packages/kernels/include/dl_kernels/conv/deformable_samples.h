// Sampling locations of a deformable convolution. Source: Dai et al., Deformable Convolutional
// Networks (2017); with masks, Zhu et al., Deformable ConvNets v2 (2019).
#ifndef DL_KERNELS_CONV_DEFORMABLE_SAMPLES_H_
#define DL_KERNELS_CONV_DEFORMABLE_SAMPLES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/deformable_shape.h"
#include "dl_kernels/image/bilinear.h"

DL_KERNELS_BEGIN

// Sampling locations in one image.
template <class C>
struct DeformableSamples {
  DeformableShape shape;
  const C* offset;  // [deformable groups, window, 2, positions]
  const C* mask;    // [deformable groups, window, positions], or null: all 1

  // Return the sample of `tap` at `position`, for the channels of a deformable group.
  DL_FN BilinearCells cells(int64_t group, int64_t tap, int64_t position) const {
    const Axis y = shape.y, x = shape.x;
    const int64_t positions = y.output * x.output, row = position / x.output;
    const C* moved = offset + (group * shape.window() + tap) * 2 * positions + position;
    const int64_t at_y = y.start(row) + tap / x.kernel * y.dilation;
    const int64_t at_x = x.start(position - row * x.output) + tap % x.kernel * x.dilation;
    return padded_cells(static_cast<double>(at_y) + static_cast<double>(moved[0]),
                        static_cast<double>(at_x) + static_cast<double>(moved[positions]), y.input,
                        x.input);
  }
  DL_FN C share(int64_t group, int64_t tap, int64_t position) const {
    if (mask == nullptr) return C(1);
    return mask[(group * shape.window() + tap) * shape.positions() + position];
  }
};

// A sample as the channels that share it read and write it: its cells and their weights.
template <class C>
struct DeformableSample {
  int64_t at[4];  // -1: outside
  C weight[4];    // multiplied by the mask

  DeformableSample() = default;
  DL_FN DeformableSample(const BilinearCells& cells, C share) {
    for (int k = 0; k < 4; ++k) {
      at[k] = cells.at[k];
      weight[k] = static_cast<C>(cells.weight[k]) * share;
    }
  }
  DL_FN C value(const C* plane) const {
    C sum = 0;
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) sum += weight[k] * plane[at[k]];
    }
    return sum;
  }
  DL_FN void add(C* plane, C amount) const {
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) plane[at[k]] += weight[k] * amount;
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_DEFORMABLE_SAMPLES_H_
