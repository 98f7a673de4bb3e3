// Samples around anchors, added to a feature map, and their gradient.
#ifndef DL_KERNELS_IMAGE_ANCHORS_H_
#define DL_KERNELS_IMAGE_ANCHORS_H_

#include <cmath>
#include "dl_kernels/image/bilinear.h"

DL_KERNELS_BEGIN

// Sampling points of an anchor: its center, then its corners.
struct AnchorSamples {
  double y, x, width_y, width_x, height_y, height_x;

  DL_FN AnchorSamples(const double* box, double scale) {
    const double c = std::cos(box[4]) * scale / 2, s = std::sin(box[4]) * scale / 2;
    y = box[0] * scale;
    x = box[1] * scale;
    width_x = c * box[2];
    width_y = s * box[2];
    height_x = -s * box[3];
    height_y = c * box[3];
  }
  DL_FN BilinearCells sample(int64_t i, int64_t height, int64_t width) const {
    const double a = i == 0 ? 0 : i == 1 || i == 4 ? 1 : -1, b = i == 0 ? 0 : i <= 2 ? 1 : -1;
    return clamped_cells(y + a * width_y + b * height_y, x + a * width_x + b * height_x, height,
                         width);
  }
};

// One plane; backwards, gradients are added at the sampling points.
template <class C>
struct AnchorPlaneItem {
  C* out;
  const C* in;
  const double* boxes;
  int64_t channels, height, width, points;
  double scale;
  bool backward;

  DL_FN void operator()(int64_t item) const {
    const int64_t cells = height * width;
    C* to = out + item * cells;
    const C* from = in + item * cells;
    for (int64_t i = 0; i < cells; ++i) {
      const AnchorSamples around(boxes + 5 * (item / channels * cells + i), scale);
      C sum = from[i];
      for (int64_t k = 0; k < points; ++k) {
        const BilinearCells sample = around.sample(k, height, width);
        if (backward) {
          sample.add(to, from[i]);
        } else {
          sum += sample.value(from);
        }
      }
      to[i] = backward ? to[i] + from[i] : sum;
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_ANCHORS_H_
