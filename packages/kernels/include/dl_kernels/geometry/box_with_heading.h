// Upright 3-D boxes that are rotated about the z axis.
#ifndef DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_
#define DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// A point in the coordinates of a box: along its length and width, relative to the center, and
// above its bottom.
struct InBox {
  double along, across, above;
  bool inside;
};

// A box of 7 numbers: x, y, z of the center of its bottom face, its sizes dx, dy, dz, and its
// heading.
struct BoxWithHeading {
  const double* box;
  double c, s;

  DL_FN explicit BoxWithHeading(const double* numbers)
      : box(numbers), c(std::cos(numbers[6])), s(std::sin(numbers[6])) {}

  DL_FN InBox seen(double px, double py, double pz) const {
    const double x = px - box[0], y = py - box[1];
    InBox point;
    point.along = c * x + s * y;
    point.across = c * y - s * x;
    point.above = pz - box[2];
    point.inside = std::fabs(point.along) < box[3] / 2 && std::fabs(point.across) < box[4] / 2 &&
                   point.above >= 0 && point.above <= box[5];
    return point;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_
