// Sampling of images and volumes at grid positions, and its gradients. An image is converted to a
// table with one row of channels for each cell, in which samples look up rows; an additional row of
// zeros represents the cells outside the image.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

#include "aten/composed/vision/grid_taps.h"
#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/strides.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Gradients = std::tuple<at::Tensor, at::Tensor>;

Site grid_sample_site{
    "grid_sampler_2d", {"grid_sampler_2d", "grid_sampler_3d"}, {Op::diopiGridSample}};

struct Sampling {
  GridInterpolation mode;
  GridPadding padding;
  bool align_corners;
};

// Return true for arguments that torch accepts; for other arguments, the fallback raises errors.
bool samples(const at::Tensor& input, const at::Tensor& grid, int64_t spatial, int64_t mode,
             int64_t padding) {
  if (!plans::alike(input, grid) || !plans::floating(input)) return false;
  if (input.dim() != spatial + 2 || grid.dim() != spatial + 2) return false;
  if (input.size(0) != grid.size(0) || grid.size(-1) != spatial) return false;
  if (input.numel() == 0 || grid.numel() == 0) return false;
  return mode >= 0 && mode <= (spatial == 2 ? 2 : 1) && padding >= 0 && padding <= 2;
}

at::Tensor in_math_type(const at::Tensor& tensor) {
  return at::isReducedFloatingType(tensor.scalar_type()) ? tensor.to(at::kFloat) : tensor;
}

// One corner of the cells around a sample: a tap on every axis.
struct Corner {
  at::Tensor row;                  // index into the table, for all samples
  std::vector<const GridTap*> on;  // by axis, in the order of the image's dimensions
};

class GridTable {
 public:
  GridTable(const at::Tensor& input, const at::Tensor& grid, const Sampling& how) {
    const int64_t spatial = input.dim() - 2;
    cells_ = input.numel() / input.size(1);
    const at::Tensor positions = in_math_type(grid);
    for (int64_t axis = 0; axis < spatial; ++axis) {
      // The grid begins with x, the last axis.
      taps_.push_back(grid_taps(positions.select(-1, spatial - 1 - axis), input.size(2 + axis),
                                spatial == 2 ? GridSpace::image : GridSpace::volume, how.mode,
                                how.padding, how.align_corners));
    }
    std::vector<int64_t> first(grid.dim() - 1, 1);
    first[0] = input.size(0);
    const at::Tensor samples = at::arange(input.size(0), at::kLong).to(grid.device()).view(first);
    add_corners(samples, {}, {}, input, 0);
  }

  const std::vector<Corner>& corners() const { return corners_; }
  int64_t outside() const { return cells_; }

 private:
  void add_corners(const at::Tensor& row, const at::Tensor& inside,
                   const std::vector<const GridTap*>& on, const at::Tensor& input, size_t axis) {
    if (axis == taps_.size()) {
      const at::Tensor none = at::zeros_like(row) + cells_;
      corners_.push_back({at::where(inside, row, none).flatten(), on});
      return;
    }
    for (const GridTap& tap : taps_[axis]) {
      std::vector<const GridTap*> chosen = on;
      chosen.push_back(&tap);
      add_corners(row * input.size(2 + static_cast<int64_t>(axis)) + tap.cell,
                  inside.defined() ? inside.logical_and(tap.inside) : tap.inside, chosen, input,
                  axis + 1);
    }
  }

  int64_t cells_;
  std::vector<std::vector<GridTap>> taps_;
  std::vector<Corner> corners_;
};

// The product of a corner's weights, with the weight on axis `steep` replaced by its slope;
// undefined means 1.
at::Tensor weight_of(const Corner& corner, int64_t steep) {
  at::Tensor product;
  for (size_t axis = 0; axis < corner.on.size(); ++axis) {
    const GridTap& tap = *corner.on[axis];
    const at::Tensor& factor = static_cast<int64_t>(axis) == steep ? tap.slope : tap.weight;
    if (factor.defined()) product = product.defined() ? product * factor : factor;
  }
  return product;
}

// Reshapes (N, C, …) to rows of channels (N · cells, C).
at::Tensor as_rows(const at::Tensor& image) {
  return in_math_type(image).movedim(1, -1).reshape({-1, image.size(1)});
}

at::Tensor padded_rows(const at::Tensor& input) {
  const at::Tensor rows = as_rows(input);
  return at::cat({rows, at::zeros({1, rows.size(1)}, rows.options())}, 0);
}

at::Tensor sample(const at::Tensor& input, const at::Tensor& grid, const Sampling& how) {
  const GridTable table(input, grid, how);
  const at::Tensor rows = padded_rows(input);
  at::Tensor total;
  for (const Corner& corner : table.corners()) {
    at::Tensor part = at::index_select(rows, 0, corner.row);
    if (const at::Tensor weight = weight_of(corner, -1); weight.defined())
      part = part * weight.reshape({-1, 1});
    total = total.defined() ? total + part : part;
  }
  std::vector<int64_t> shape(grid.sizes().begin(), grid.sizes().end());
  shape.back() = input.size(1);
  return arrange(total.view(shape).movedim(-1, 1).to(input.scalar_type()));
}

at::Tensor input_gradient(const GridTable& table, const at::Tensor& grad, const at::Tensor& input) {
  std::vector<at::Tensor> shares, rows;
  for (const Corner& corner : table.corners()) {
    const at::Tensor weight = weight_of(corner, -1);
    shares.push_back(weight.defined() ? grad * weight.reshape({-1, 1}) : grad);
    rows.push_back(corner.row);
  }
  const int64_t outside = table.outside();
  const at::Tensor total = at::embedding_dense_backward(at::cat(shares, 0), at::cat(rows, 0),
                                                        outside + 1, outside, false);
  std::vector<int64_t> shape(input.sizes().begin(), input.sizes().end());
  shape.erase(shape.begin() + 1);
  shape.push_back(input.size(1));
  return total.narrow(0, 0, outside)
      .view(shape)
      .movedim(-1, 1)
      .to(input.scalar_type())
      .contiguous();
}

at::Tensor grid_gradient(const GridTable& table, const at::Tensor& grad, const at::Tensor& input,
                         const at::Tensor& grid) {
  const auto spatial = input.dim() - 2;
  const at::Tensor rows = padded_rows(input);
  std::vector<at::Tensor> slopes(spatial);  // x first, as in the grid
  for (const Corner& corner : table.corners()) {
    const at::Tensor meets = (at::index_select(rows, 0, corner.row) * grad).sum(1);
    for (int64_t axis = 0; axis < spatial; ++axis) {
      const at::Tensor part = meets * weight_of(corner, axis).flatten();
      at::Tensor& slope = slopes[spatial - 1 - axis];
      slope = slope.defined() ? slope + part : part;
    }
  }
  return at::stack(slopes, -1).view(grid.sizes()).to(grid.scalar_type());
}

// The contract's operator has zeros outside and aligns borders. It computes positions in double, so
// that the nearest cell of a position between two could be another one than torch's.
bool sample_native(OutputPlan& plan, const at::Tensor& input, const at::Tensor& grid,
                   const Sampling& how) {
  const int device_index = ::dl::core::device_of(input);
  if (device_index < 0 || grid_sample_site.disabled.load(std::memory_order_relaxed)) return false;
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device_index), diopiGridSample);
  if (function == nullptr || grid.device() != input.device()) return false;
  if (how.padding != GridPadding::zeros || how.align_corners ||
      how.mode == GridInterpolation::nearest)
    return false;
  DimVector sizes(grid.sizes().begin(), grid.sizes().end() - 1);
  sizes.insert(sizes.begin() + 1, input.size(1));
  plan.start(input);
  plan.output(sizes, input.scalar_type());
  if (!plan.make_outputs({})) return false;
  const at::Tensor out = plan.out(0);
  NativeCall call(grid_sample_site, device_index);
  OutputHandle out_handle(out);
  return call.run("diopiGridSample", function, out_handle.get(), TensorHandle(input).get(),
                  TensorHandle(grid).get(),
                  how.mode == GridInterpolation::bicubic ? "bicubic" : "bilinear");
}

template <int64_t Spatial>
at::Tensor sample_forward(const at::Tensor& input, const at::Tensor& grid, int64_t mode,
                          int64_t padding, bool align_corners) {
  if (samples(input, grid, Spatial, mode, padding)) {
    const Sampling how = {static_cast<GridInterpolation>(mode), static_cast<GridPadding>(padding),
                          align_corners};
    OutputPlan plan;
    return sample_native(plan, input, grid, how) ? plan.take(0) : sample(input, grid, how);
  }
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, int64_t, bool);
  return on_cpu<(Spatial == 2 ? Text("grid_sampler_2d") : Text("grid_sampler_3d")), Signature>(
      input, grid, mode, padding, align_corners);
}

template <int64_t Spatial>
Gradients sample_backward(const at::Tensor& grad_output, const at::Tensor& input,
                          const at::Tensor& grid, int64_t mode, int64_t padding, bool align_corners,
                          std::array<bool, 2> mask) {
  if (samples(input, grid, Spatial, mode, padding) && plans::alike(input, grad_output)) {
    const auto interpolation = static_cast<GridInterpolation>(mode);
    const GridTable table(input, grid,
                          {interpolation, static_cast<GridPadding>(padding), align_corners});
    const at::Tensor grad = as_rows(grad_output);
    const bool flat = interpolation == GridInterpolation::nearest;
    return {mask[0] ? input_gradient(table, grad, input) : at::Tensor(),
            !mask[1] ? at::Tensor()
            : flat   ? at::zeros_like(grid)
                     : grid_gradient(table, grad, input, grid)};
  }
  using Signature = Gradients(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t,
                              int64_t, bool, std::array<bool, 2>);
  return on_cpu<(Spatial == 2 ? Text("grid_sampler_2d_backward")
                              : Text("grid_sampler_3d_backward")),
                Signature>(grad_output, input, grid, mode, padding, align_corners, mask);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("grid_sampler_2d", sample_forward<2>);
  DL_COMPOSED("grid_sampler_2d_backward", sample_backward<2>);
  DL_COMPOSED("grid_sampler_3d", sample_forward<3>);
  DL_COMPOSED("grid_sampler_3d_backward", sample_backward<3>);
}

}  // namespace dl::core::composed
