// Cells that a sampling grid reads, for each axis.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace dl::core::composed {

// One cell that each sample reads on one axis; `inside` is false for cells outside the image.
struct GridTap {
  at::Tensor cell;    // int64
  at::Tensor inside;  // bool; undefined: true for all
  at::Tensor weight;  // undefined: 1
  at::Tensor slope;   // derivative of the weight with respect to the grid value; undefined: 0
};

enum class GridPadding : int64_t { zeros = 0, border = 1, reflection = 2 };
enum class GridInterpolation : int64_t { bilinear = 0, nearest = 1, bicubic = 2 };

// Kinds of samplers, which differ in torch in their treatment of NaN and infinite grid values.
enum class GridSpace {
  image,   // reads the first cell; if that is outside, the sample becomes NaN
  volume,  // reads the last cell; if that is outside, the sample reads zeros
};

// `positions` are the grid values on an axis of `size` cells.
std::vector<GridTap> grid_taps(const at::Tensor& positions, int64_t size, GridSpace space,
                               GridInterpolation mode, GridPadding padding, bool align_corners);

}  // namespace dl::core::composed
