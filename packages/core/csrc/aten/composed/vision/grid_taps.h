// The cells that a sampling grid reads, axis by axis.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace dl::core::composed {

// One cell of each sample on one axis. Those that lie outside have inside = false.
struct GridTap {
  at::Tensor cell;    // int64
  at::Tensor inside;  // bool; undefined: all are
  at::Tensor weight;  // undefined: 1
  at::Tensor slope;   // how the weight grows with the grid's number; undefined: not at all
};

enum class GridPadding : int64_t { zeros = 0, border = 1, reflection = 2 };
enum class GridInterpolation : int64_t { bilinear = 0, nearest = 1, bicubic = 2 };

// What torch's samplers do with a grid's number that is none, or infinite, differs.
enum class GridSpace {
  image,   // the first cell stands for it; outside, it spoils the sample
  volume,  // the last cell stands for it; outside, it reads zeros
};

// `places` are numbers of the grid for an axis of `size` cells.
std::vector<GridTap> grid_taps(const at::Tensor& places, int64_t size, GridSpace space,
                               GridInterpolation mode, GridPadding padding, bool align_corners);

}  // namespace dl::core::composed
