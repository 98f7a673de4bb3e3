#include "aten/plans_rearrange.h"

#include <ATen/TensorUtils.h>

#include <array>

#include "aten/plan_checks.h"
#include "aten/strides.h"

namespace dl::core::plans {
namespace {

bool is_dim_of(int64_t dim, int64_t count) { return dim >= -count && dim < count; }

// Windows along one axis of an image.
std::optional<int64_t> windows(int64_t input, int64_t kernel, int64_t dilation, int64_t padding,
                               int64_t stride) {
  if (kernel < 1 || dilation < 1 || padding < 0 || stride < 1) return std::nullopt;
  const int64_t span = dilation * (kernel - 1) + 1;
  if (input < 1 || input + 2 * padding < span) return std::nullopt;
  return (input + 2 * padding - span) / stride + 1;
}

std::optional<std::array<int64_t, 2>> grid(at::IntArrayRef image, at::IntArrayRef kernel,
                                           at::IntArrayRef dilation, at::IntArrayRef padding,
                                           at::IntArrayRef stride) {
  if (kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2)
    return std::nullopt;
  const auto rows = windows(image[0], kernel[0], dilation[0], padding[0], stride[0]);
  const auto columns = windows(image[1], kernel[1], dilation[1], padding[1], stride[1]);
  if (!rows || !columns) return std::nullopt;
  return std::array<int64_t, 2>{*rows, *columns};
}

// The format that all tensors have, `at` a new dimension where it is one; contiguous where they
// differ.
c10::MemoryFormat common_format(at::TensorList tensors, std::optional<int64_t> at) {
  std::optional<c10::MemoryFormat> common;
  for (const Tensor& tensor : tensors) {
    if (has_standard_strides(tensor.unsafeGetTensorImpl())) return c10::MemoryFormat::Contiguous;
    const c10::MemoryFormat format = (at ? tensor.unsqueeze(*at) : tensor).suggest_memory_format();
    if (common.value_or(format) != format) return c10::MemoryFormat::Contiguous;
    common = format;
  }
  return *common;
}

// Torch concatenates and then splits the dimension, except for a new one behind all others.
void stacked_output(DirectPlan& plan, at::TensorList tensors, int64_t at, const DimVector& sizes,
                    c10::ScalarType type) {
  const bool behind = at == tensors[0].dim();
  const c10::MemoryFormat format =
      common_format(tensors, behind ? std::optional<int64_t>(at) : std::nullopt);
  if (behind || format == c10::MemoryFormat::Contiguous) return plan.output(sizes, type, format);
  DimVector joined(tensors[0].sizes().begin(), tensors[0].sizes().end());
  joined[at] *= static_cast<int64_t>(tensors.size());
  const auto strides =
      at::detail::computeStride(joined, at::DimVector(strides_of(joined, format)), sizes);
  if (!strides) return plan.output(sizes, type);
  plan.keep_strides(*strides);
  plan.strided_output(sizes, type);
}

}  // namespace

bool rotation(DirectPlan& plan, const Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims) {
  if (!alike(self) || self.dim() == 0 || shifts.empty()) return false;
  if (dims.empty() ? shifts.size() != 1 || !self.is_contiguous() : shifts.size() != dims.size())
    return false;
  for (const int64_t dim : dims) {
    if (!is_dim_of(dim, self.dim())) return false;
  }
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(),
              dims.empty() ? c10::MemoryFormat::Contiguous : self.suggest_memory_format());
  return true;
}

bool stacked(DirectPlan& plan, at::TensorList tensors, int64_t dim) {
  if (tensors.empty() || !alike(tensors[0]) || !is_dim_of(dim, tensors[0].dim() + 1)) return false;
  c10::ScalarType type = tensors[0].scalar_type();
  for (const Tensor& tensor : tensors) {
    if (!on_same_device(tensors[0], tensor) || tensor.sizes() != tensors[0].sizes()) return false;
    if (to_diopi(tensor.scalar_type()) == diopi_dtype_unsupported) return false;
    type = c10::promoteTypes(type, tensor.scalar_type());
  }
  const int64_t at = dim < 0 ? dim + tensors[0].dim() + 1 : dim;
  DimVector sizes(tensors[0].sizes().begin(), tensors[0].sizes().end());
  sizes.insert(sizes.begin() + at, static_cast<int64_t>(tensors.size()));
  plan.start(tensors[0]);
  plan.set_dim(at);
  stacked_output(plan, tensors, at, sizes, type);
  return true;
}

bool windows_added(DirectPlan& plan, const Tensor& grad, at::IntArrayRef input_sizes, int64_t dim,
                   int64_t, int64_t) {
  const auto count = static_cast<int64_t>(input_sizes.size());
  if (!alike(grad) || !is_dim_of(dim, count == 0 ? 1 : count)) return false;
  plan.start(grad);
  plan.set_dim(dim < 0 ? dim + (count == 0 ? 1 : count) : dim);
  plan.output(input_sizes, grad.scalar_type());
  return true;
}

bool image_columns(DirectPlan& plan, const Tensor& self, at::IntArrayRef kernel,
                   at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride) {
  if (!alike(self) || (self.dim() != 3 && self.dim() != 4) || self.size(-3) == 0) return false;
  const auto shape = grid(self.sizes().slice(self.dim() - 2), kernel, dilation, padding, stride);
  if (!shape) return false;
  DimVector sizes;
  if (self.dim() == 4) sizes.push_back(self.size(0));
  sizes.push_back(self.size(-3) * kernel[0] * kernel[1]);
  sizes.push_back((*shape)[0] * (*shape)[1]);
  plan.start(self);
  plan.output(sizes, self.scalar_type());
  return true;
}

bool column_image(DirectPlan& plan, const Tensor& self, at::IntArrayRef output_size,
                  at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
                  at::IntArrayRef stride) {
  if (!alike(self) || (self.dim() != 2 && self.dim() != 3) || output_size.size() != 2) return false;
  const auto shape = grid(output_size, kernel, dilation, padding, stride);
  if (!shape) return false;
  const int64_t taps = kernel[0] * kernel[1];
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
