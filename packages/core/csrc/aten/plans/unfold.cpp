#include "aten/plans/unfold.h"

#include <ATen/ExpandUtils.h>

#include <array>
#include <optional>

#include "aten/layout/checked_sizes.h"
#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

// torch's kernels support floating-point, complex and boolean tensors, but not integers.
bool has_windows(const Tensor& self) {
  return alike(self) && !c10::isIntegralType(self.scalar_type(), false) &&
         self.scalar_type() != at::kComplexHalf;
}

// Number of windows along one axis of an image.
std::optional<int64_t> windows(int64_t input, int64_t kernel, int64_t dilation, int64_t padding,
                               int64_t stride) {
  if (kernel < 1 || dilation < 1 || padding < 0 || stride < 1) return std::nullopt;
  // Sizes beyond 62 bits are invalid; torch raises the error.
  int64_t reach, pads, padded;
  if (__builtin_mul_overflow(dilation, kernel - 1, &reach) ||
      __builtin_mul_overflow(padding, int64_t{2}, &pads) ||
      __builtin_add_overflow(input, pads, &padded))
    return std::nullopt;
  if (input < 1 || padded <= reach) return std::nullopt;
  return (padded - 1 - reach) / stride + 1;
}

std::optional<std::array<int64_t, 2>> grid(at::IntArrayRef image, at::IntArrayRef kernel,
                                           at::IntArrayRef dilation, at::IntArrayRef padding,
                                           at::IntArrayRef stride) {
  if (kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2)
    return std::nullopt;
  const auto rows = windows(image[0], kernel[0], dilation[0], padding[0], stride[0]);
  const auto columns = windows(image[1], kernel[1], dilation[1], padding[1], stride[1]);
  if (!rows || !columns) return std::nullopt;
  checked_product({*rows, *columns}, "fold: the number of windows");
  return std::array<int64_t, 2>{*rows, *columns};
}

// Number of cells of a window, over all channels. If the product overflowed, torch's own unfold
// would continue with it.
int64_t cells_of(at::IntArrayRef kernel, int64_t channels) {
  if (kernel.size() != 2 || kernel[0] < 1 || kernel[1] < 1) return 0;
  return checked_product({channels, kernel[0], kernel[1]}, "fold: the number of cells of a window");
}

}  // namespace

bool unfold_backward(OutputPlan& plan, UnfoldValues& values, const Tensor& grad,
                     at::IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step) {
  const auto count = static_cast<int64_t>(input_sizes.size());
  if (!alike(grad) || !is_dim_of(dim, count == 0 ? 1 : count)) return false;
  values.dim = dim < 0 ? dim + (count == 0 ? 1 : count) : dim;
  values.grad = grad;
  if (count > 0) {
    const int64_t extent = input_sizes[values.dim];
    if (grad.dim() != count + 1 || step < 1 || size < 0 || size > extent) return false;
    // As in torch's kernel, the other dimensions broadcast.
    DimVector sizes(input_sizes.begin(), input_sizes.end());
    sizes[values.dim] = (extent - size) / step + 1;
    sizes.push_back(size);
    if (grad.size(values.dim) != sizes[values.dim] || grad.size(-1) != size) return false;
    if (!at::is_expandable_to(grad.sizes(), sizes)) return false;
    values.grad = grad.expand(sizes);
  }
  plan.start(grad);
  plan.output(input_sizes, grad.scalar_type());
  return true;
}

bool image_columns(OutputPlan& plan, const Tensor& self, at::IntArrayRef kernel,
                   at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride) {
  if (!has_windows(self) || (self.dim() != 3 && self.dim() != 4) || self.size(-3) == 0)
    return false;
  const int64_t cells = cells_of(kernel, self.size(-3));
  const auto shape = grid(self.sizes().slice(self.dim() - 2), kernel, dilation, padding, stride);
  if (!shape) return false;
  DimVector sizes;
  if (self.dim() == 4) sizes.push_back(self.size(0));
  sizes.push_back(cells);
  sizes.push_back((*shape)[0] * (*shape)[1]);
  plan.start(self);
  plan.output(sizes, self.scalar_type());
  return true;
}

bool column_image(OutputPlan& plan, const Tensor& self, at::IntArrayRef output_size,
                  at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
                  at::IntArrayRef stride) {
  if (!has_windows(self) || (self.dim() != 2 && self.dim() != 3) || output_size.size() != 2)
    return false;
  const int64_t taps = cells_of(kernel, 1);
  const auto shape = grid(output_size, kernel, dilation, padding, stride);
  if (!shape) return false;
  if (self.size(-2) == 0 || self.size(-2) % taps != 0 || self.size(-1) != (*shape)[0] * (*shape)[1])
    return false;
  DimVector sizes;
  if (self.dim() == 3) sizes.push_back(self.size(0));
  sizes.push_back(self.size(-2) / taps);
  sizes.push_back(output_size[0]);
  sizes.push_back(output_size[1]);
  plan.start(self);
  plan.output(sizes, self.scalar_type());
  return true;
}

}  // namespace dl::core::plans
