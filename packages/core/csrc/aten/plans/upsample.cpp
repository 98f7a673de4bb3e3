#include "aten/plans/upsample.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "aten/layout/resize_output.h"
#include "aten/layout/strides.h"
#include "aten/plans/checks.h"
#include "memory/new_tensor.h"

namespace dl::core {

namespace plans {
namespace {

bool is_nearest(Resampling kind) {
  return kind == Resampling::nearest || kind == Resampling::nearest_exact;
}

// Returns true if `sizes`, (N, C, …), can be resized to `output_size`; otherwise torch raises the
// error.
bool resizable(const Tensor& self, at::IntArrayRef sizes, at::IntArrayRef output_size,
               Scales scales) {
  const auto spatial = static_cast<int64_t>(scales.size());
  if (!alike(self) || static_cast<int64_t>(sizes.size()) != spatial + 2) return false;
  if (static_cast<int64_t>(output_size.size()) != spatial) return false;
  for (int64_t d = 1; d < spatial + 2; ++d) {
    if (sizes[d] < 1) return false;
  }
  return std::all_of(output_size.begin(), output_size.end(), [](int64_t n) { return n > 0; });
}

// torch supports bytes for the nearest mode.
bool resamples(const Tensor& self, Resampling kind) {
  return floating(self) || (is_nearest(kind) && self.scalar_type() == at::kByte);
}

AxisScale axis_of(at::IntArrayRef sizes, at::IntArrayRef output_size, bool align_corners,
                  Scales scales, int64_t i) {
  return {sizes[2 + i], output_size[i], align_corners, scales.begin()[i]};
}

// Threshold above which the host's work before the call is significant.
constexpr int64_t kLongAxis = 1 << 20;

// Raises the out-of-memory error for these sizes before the host does work that grows with them.
void check_memory(const Tensor& like, at::IntArrayRef sizes) {
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > kLongAxis; }))
    empty_on(like.get_device(), sizes, like.scalar_type(), std::nullopt);
}

// The contract has no scale factors; it reads the cell at floor(o · input / output).
bool contract_agrees(Resampling kind, const AxisScale& axis, bool in_double) {
  if (is_nearest(kind)) {
    for (int64_t o = 0; o < axis.output; ++o) {
      const int64_t cell = nearest_cell(axis, kind == Resampling::nearest_exact, in_double, o);
      if (cell != o * axis.input / axis.output) return false;
    }
    return true;
  }
  const double own = static_cast<double>(axis.input) / static_cast<double>(axis.output);
  return axis.align_corners || std::abs(axis.step() - own) <= own * 1e-12;
}
bool contract_agrees(Resampling kind, const Tensor& self, at::IntArrayRef sizes,
                     at::IntArrayRef output_size, bool align_corners, Scales scales) {
  if (sizes[0] == 0) return true;
  for (int64_t i = 0; i < static_cast<int64_t>(scales.size()); ++i) {
    const AxisScale axis = axis_of(sizes, output_size, align_corners, scales, i);
    if (!contract_agrees(kind, axis, self.scalar_type() == at::kDouble)) return false;
  }
  return true;
}

DimVector replace_spatial_sizes(at::IntArrayRef sizes, at::IntArrayRef output_size) {
  DimVector result(sizes.begin(), sizes.begin() + 2);
  result.append(output_size.begin(), output_size.end());
  return result;
}

}  // namespace

bool upsample(OutputPlan& plan, Resampling kind, const Tensor& self, at::IntArrayRef output_size,
              bool align_corners, Scales scales) {
  if (!resizable(self, self.sizes(), output_size, scales) || !resamples(self, kind)) return false;
  check_memory(self, replace_spatial_sizes(self.sizes(), output_size));
  if (!contract_agrees(kind, self, self.sizes(), output_size, align_corners, scales)) return false;
  plan.start(self);
  plan.output(replace_spatial_sizes(self.sizes(), output_size), self.scalar_type(),
              self.suggest_memory_format());
  return true;
}

bool upsample_backward(OutputPlan& plan, Resampling kind, const Tensor& grad_output,
                       at::IntArrayRef output_size, at::IntArrayRef input_size, bool align_corners,
                       Scales scales) {
  if (!resizable(grad_output, input_size, output_size, scales) || !floating(grad_output))
    return false;
  if (grad_output.sizes() != replace_spatial_sizes(input_size, output_size)) return false;
  check_memory(grad_output, grad_output.sizes());
  check_memory(grad_output, input_size);
  if (!contract_agrees(kind, grad_output, input_size, output_size, align_corners, scales))
    return false;
  plan.start(grad_output);
  plan.output(input_size, grad_output.scalar_type(), grad_output.suggest_memory_format());
  return true;
}

Tensor resample(Resampling kind, const Tensor& self, at::IntArrayRef output_size,
                bool align_corners, Scales scales) {
  if (!resizable(self, self.sizes(), output_size, scales) || !resamples(self, kind)) return {};
  const DimVector sizes = replace_spatial_sizes(self.sizes(), output_size);
  check_memory(self, sizes);
  if (sizes[0] == 0) return at::empty(sizes, self.options(), self.suggest_memory_format());
  const bool widen = !is_nearest(kind) && at::isReducedFloatingType(self.scalar_type());
  const bool in_double = self.scalar_type() == at::kDouble;
  Tensor result = widen ? self.to(at::kFloat) : self;
  for (int64_t i = static_cast<int64_t>(scales.size()) - 1; i >= 0; --i) {
    const AxisScale axis = axis_of(self.sizes(), output_size, align_corners, scales, i);
    result = apply_taps(result, 2 + i, axis_taps(kind, axis, in_double));
  }
  return arrange(result.to(self.scalar_type()), self.suggest_memory_format());
}

Tensor resample_backward(Resampling kind, const Tensor& grad_output, at::IntArrayRef output_size,
                         at::IntArrayRef input_size, bool align_corners, Scales scales) {
  if (!resizable(grad_output, input_size, output_size, scales) || !floating(grad_output)) return {};
  if (grad_output.sizes() != replace_spatial_sizes(input_size, output_size) ||
      grad_output.numel() == 0)
    return {};
  check_memory(grad_output, grad_output.sizes());
  check_memory(grad_output, input_size);
  const bool widen = at::isReducedFloatingType(grad_output.scalar_type());
  const bool in_double = grad_output.scalar_type() == at::kDouble;
  Tensor result = widen ? grad_output.to(at::kFloat) : grad_output;
  for (int64_t i = 0; i < static_cast<int64_t>(scales.size()); ++i) {
    const AxisScale axis = axis_of(input_size, output_size, align_corners, scales, i);
    result = apply_taps_backward(result, 2 + i, axis.input, axis_taps(kind, axis, in_double));
  }
  return arrange(result.to(grad_output.scalar_type()), grad_output.suggest_memory_format());
}

}  // namespace plans
}  // namespace dl::core
