#include "aten/composed/vision/grid_taps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace dl::core::composed {
namespace {

// A coordinate, and its derivative with respect to the grid value (undefined: only a constant
// factor).
struct Coordinate {
  at::Tensor value, slope;
};

Coordinate clip(const Coordinate& at, int64_t size, GridSpace space) {
  const auto last = static_cast<double>(size - 1);
  // The bounds count as outside, because torch's gradient is 0 there.
  const at::Tensor within = at.value.gt(0).logical_and(at.value.lt(last));
  const double unknown = space == GridSpace::image ? 0 : last;
  return {at::nan_to_num(at.value.clamp(0, last), unknown), at.slope * within};
}

// Reflects at twice_low / 2 and twice_high / 2 until the coordinate is between them.
Coordinate reflect(const Coordinate& at, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return {at::zeros_like(at.value), at::zeros_like(at.slope)};
  const double low = static_cast<double>(twice_low) / 2;
  const double span = static_cast<double>(twice_high - twice_low) / 2;
  const at::Tensor distance = at.value - low;
  const at::Tensor length = at::abs(distance);
  const at::Tensor flips = at::floor(length / span);
  const at::Tensor extra = length - flips * span;
  const at::Tensor odd = (flips - at::floor(flips / 2) * 2).gt(0.5);
  const at::Tensor turned = odd.logical_xor(distance.lt(0));
  return {at::where(odd, span - extra, extra) + low, at::where(turned, -at.slope, at.slope)};
}

Coordinate apply_padding(const Coordinate& at, int64_t size, GridSpace space, GridPadding padding,
                         bool align_corners) {
  if (padding == GridPadding::zeros) return at;
  if (padding == GridPadding::border) return clip(at, size, space);
  const Coordinate inner =
      align_corners ? reflect(at, 0, 2 * (size - 1)) : reflect(at, -1, 2 * size - 1);
  return clip(inner, size, space);
}

GridTap tap_at(const at::Tensor& place, int64_t size, at::Tensor weight, at::Tensor slope) {
  const auto last = static_cast<double>(size - 1);
  // Compared as floats, because large values and NaN cannot be converted to integers.
  const at::Tensor inside = place.ge(0).logical_and(place.le(last));
  const at::Tensor cell = at::where(inside, place, at::zeros_like(place)).to(at::kLong);
  return {cell, inside, std::move(weight), std::move(slope)};
}

// Source: Keys, Cubic Convolution Interpolation for Digital Image Processing (1981). Polynomials
// for distances below 1 and for distances from 1 to 2, with their derivatives.
constexpr double kFree = -0.75;
at::Tensor near_weight(const at::Tensor& d) { return ((kFree + 2) * d - (kFree + 3)) * d * d + 1; }
at::Tensor near_slope(const at::Tensor& d) { return (3 * (kFree + 2) * d - 2 * (kFree + 3)) * d; }
at::Tensor far_weight(const at::Tensor& d) {
  return ((kFree * d - 5 * kFree) * d + 8 * kFree) * d - 4 * kFree;
}
at::Tensor far_slope(const at::Tensor& d) { return (3 * kFree * d - 10 * kFree) * d + 8 * kFree; }

std::vector<GridTap> cubic_taps(const Coordinate& at, int64_t size, GridSpace space,
                                GridPadding padding, bool align_corners) {
  const at::Tensor cell = at::floor(at.value);
  const at::Tensor t = at.value - cell, u = 1 - t;
  const at::Tensor weights[4] = {far_weight(t + 1), near_weight(t), near_weight(u),
                                 far_weight(u + 1)};
  const at::Tensor slopes[4] = {far_slope(t + 1), near_slope(t), -near_slope(u), -far_slope(u + 1)};
  std::vector<GridTap> taps;
  for (int64_t k = 0; k < 4; ++k) {
    const Coordinate place =
        apply_padding({cell + (k - 1), at.slope}, size, space, padding, align_corners);
    taps.push_back(tap_at(place.value, size, weights[k], slopes[k] * at.slope));
  }
  return taps;
}

}  // namespace

std::vector<GridTap> grid_taps(const at::Tensor& positions, int64_t size, GridSpace space,
                               GridInterpolation mode, GridPadding padding, bool align_corners) {
  const double half = static_cast<double>(align_corners ? size - 1 : size) / 2;
  const at::Tensor value = align_corners ? (positions + 1) * half
                                         : ((positions + 1) * static_cast<double>(size) - 1) / 2;
  const Coordinate at{value, at::ones_like(positions) * half};
  if (mode == GridInterpolation::bicubic)
    return cubic_taps(at, size, space, padding, align_corners);
  const Coordinate place = apply_padding(at, size, space, padding, align_corners);
  if (mode == GridInterpolation::nearest) {
    return {tap_at(at::round(place.value), size, {}, {})};
  }
  const at::Tensor cell = at::floor(place.value);
  const at::Tensor t = place.value - cell;
  std::vector<GridTap> taps = {tap_at(cell, size, 1 - t, -place.slope),
                               tap_at(cell + 1, size, t, place.slope)};
  if (space == GridSpace::volume && padding == GridPadding::zeros) {
    for (GridTap& tap : taps) {
      tap.weight = at::where(tap.inside, tap.weight, at::zeros_like(tap.weight));
      tap.slope = at::where(tap.inside, tap.slope, at::zeros_like(tap.slope));
    }
  }
  return taps;
}

}  // namespace dl::core::composed
