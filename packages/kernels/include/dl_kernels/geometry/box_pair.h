// Overlaps of two boxes, each a row of parameters.
#ifndef DL_KERNELS_GEOMETRY_BOX_PAIR_H_
#define DL_KERNELS_GEOMETRY_BOX_PAIR_H_

#include "dl_kernels/geometry/polygon.h"

DL_KERNELS_BEGIN

// `shared` divided by the area of the union, or by the first area.
DL_FN double over_base(double shared, double first, double second, bool first_only) {
  const double base = first_only ? first : first + second - shared;
  return base > 0 || base != base ? shared / base : 0;
}

// Overlap of boxes x1, y1, x2, y2, whose sides are longer by `offset`.
DL_FN double upright_overlap(const double* a, const double* b, double offset, bool first_only) {
  const double left = a[0] > b[0] ? a[0] : b[0], right = a[2] < b[2] ? a[2] : b[2];
  const double top = a[1] > b[1] ? a[1] : b[1], bottom = a[3] < b[3] ? a[3] : b[3];
  const double width = right - left + offset, height = bottom - top + offset;
  const double shared = (width > 0 ? width : 0) * (height > 0 ? height : 0);
  return over_base(shared, (a[2] - a[0] + offset) * (a[3] - a[1] + offset),
                   (b[2] - b[0] + offset) * (b[3] - b[1] + offset), first_only);
}

// Area shared by two rectangles x, y, width, height, angle.
DL_FN double rotated_area(Point a, double a_width, double a_height, double a_angle, Point b,
                          double b_width, double b_height, double b_angle) {
  const double reach = length({a_width, a_height}) + length({b_width, b_height});
  if (2 * length(a - b) > reach) return 0;
  const Polygon shared = intersection(rectangle(a, a_width, a_height, a_angle, a),
                                      rectangle(b, b_width, b_height, b_angle, a));
  return shared.count < 3 ? 0 : shared.area();
}

// Rectangles with a smaller area, or with one negative side, overlap with nothing, as in MMCV.
inline constexpr double kLeastArea = 1e-14;
DL_FN double rotated_overlap(const double* a, const double* b, bool first_only) {
  const double first = a[2] * a[3], second = b[2] * b[3];
  if (first < kLeastArea || second < kLeastArea) return 0;
  const double shared =
      rotated_area({a[0], a[1]}, a[2], a[3], a[4], {b[0], b[1]}, b[2], b[3], b[4]);
  return over_base(shared, first, second, first_only);
}

// Area shared by boxes x, y, z, dx, dy, dz, heading in the bird's-eye view.
DL_FN double area_from_above(const double* a, const double* b) {
  return rotated_area({a[0], a[1]}, a[3], a[4], a[6], {b[0], b[1]}, b[3], b[4], b[6]);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_BOX_PAIR_H_
