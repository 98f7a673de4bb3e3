// Bilinear interpolation on a plane. Positions are in double: their rounding errors would be
// visible in the result, unlike those of the weights.
#ifndef DL_KERNELS_IMAGE_BILINEAR_H_
#define DL_KERNELS_IMAGE_BILINEAR_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// The four cells around a position and their weights; cells outside the plane have weight 0. The
// slopes are the derivatives of the weights with respect to y and x.
struct BilinearCells {
  int64_t at[4];
  double weight[4], slope_y[4], slope_x[4];

  template <class C>
  DL_FN C value(const C* plane) const {
    C sum = 0;
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) sum += static_cast<C>(weight[k]) * plane[at[k]];
    }
    return sum;
  }
  template <class C>
  DL_FN C value_slope_y(const C* plane) const {
    C sum = 0;
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) sum += static_cast<C>(slope_y[k]) * plane[at[k]];
    }
    return sum;
  }
  template <class C>
  DL_FN C value_slope_x(const C* plane) const {
    C sum = 0;
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) sum += static_cast<C>(slope_x[k]) * plane[at[k]];
    }
    return sum;
  }
  template <class C>
  DL_FN void add(C* plane, C amount) const {
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) plane[at[k]] += static_cast<C>(weight[k]) * amount;
    }
  }
};

namespace detail {

DL_FN BilinearCells cells_around(double y, double x, int64_t height, int64_t width, bool slopes_y,
                                 bool slopes_x) {
  BilinearCells cells;
  const double y0 = std::floor(y), x0 = std::floor(x), dy = y - y0, dx = x - x0;
  for (int k = 0; k < 4; ++k) {
    const bool low = k / 2 == 0, left = k % 2 == 0;
    const int64_t row = static_cast<int64_t>(y0) + (low ? 0 : 1);
    const int64_t column = static_cast<int64_t>(x0) + (left ? 0 : 1);
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    const double by_y = low ? 1 - dy : dy, by_x = left ? 1 - dx : dx;
    cells.at[k] = inside ? row * width + column : -1;
    cells.weight[k] = by_y * by_x;
    cells.slope_y[k] = slopes_y ? (low ? -by_x : by_x) : 0;
    cells.slope_x[k] = slopes_x ? (left ? -by_y : by_y) : 0;
  }
  return cells;
}

DL_FN BilinearCells no_cells() {
  BilinearCells cells;
  for (int k = 0; k < 4; ++k) {
    cells.at[k] = -1;
    cells.weight[k] = cells.slope_y[k] = cells.slope_x[k] = 0;
  }
  return cells;
}

}  // namespace detail

// Zero padding: cells outside count as zeros.
DL_FN BilinearCells padded_cells(double y, double x, int64_t height, int64_t width) {
  if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width)))
    return detail::no_cells();
  return detail::cells_around(y, x, height, width, true, true);
}

// The border is replicated for one cell; beyond that, the value is zero.
DL_FN BilinearCells clamped_cells(double y, double x, int64_t height, int64_t width) {
  const auto h = static_cast<double>(height), w = static_cast<double>(width);
  if (!(y >= -1 && x >= -1 && y <= h && x <= w) || height < 1 || width < 1)
    return detail::no_cells();
  const bool in_y = y > 0 && y < h - 1, in_x = x > 0 && x < w - 1;
  return detail::cells_around(y < 0       ? 0
                              : y > h - 1 ? h - 1
                                          : y,
                              x < 0       ? 0
                              : x > w - 1 ? w - 1
                                          : x,
                              height, width, in_y, in_x);
}

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_BILINEAR_H_
