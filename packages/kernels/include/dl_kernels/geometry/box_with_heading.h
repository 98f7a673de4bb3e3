// Boxes in space that stand upright and are turned about z.
#ifndef DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_
#define DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// A point as seen from a box x, y, z of the bottom's centre, dx, dy, dz, heading: along its length
// and width from the centre, and above the bottom.
struct InBox {
  double along, across, above;
  bool inside;

  DL_FN InBox(const double* box, const double* point) {
    const double x = point[0] - box[0], y = point[1] - box[1];
    const double c = std::cos(box[6]), s = std::sin(box[6]);
    along = c * x + s * y;
    across = c * y - s * x;
    above = point[2] - box[2];
    inside = std::fabs(along) < box[3] / 2 && std::fabs(across) < box[4] / 2 && above >= 0 &&
             above <= box[5];
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_BOX_WITH_HEADING_H_
