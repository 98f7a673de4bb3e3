#include "aten/plans/pooling.h"

#include <ATen/native/Pool.h>

#include <limits>

#include "aten/plans/checks.h"

namespace dl::core::plans {

DimVector per_axis(at::IntArrayRef values, at::IntArrayRef otherwise, int64_t spatial) {
  const at::IntArrayRef given = values.empty() ? otherwise : values;
  if (given.size() == 1) return DimVector(spatial, given[0]);
  if (static_cast<int64_t>(given.size()) != spatial) return {};
  return DimVector(given.begin(), given.end());
}

bool is_image(const Tensor& self, int64_t spatial) {
  if (!alike(self) || !floating(self)) return false;
  if (self.dim() != spatial + 1 && self.dim() != spatial + 2) return false;
  for (int64_t d = self.dim() == spatial + 2 ? 1 : 0; d < self.dim(); ++d) {
    if (self.size(d) == 0) return false;
  }
  return true;
}

c10::MemoryFormat own_format(const Tensor& self, int64_t spatial) {
  return self.dim() == spatial + 2 ? self.suggest_memory_format() : c10::MemoryFormat::Contiguous;
}

c10::MemoryFormat format_of(const Tensor& self, int64_t spatial) {
  return spatial == 2 ? own_format(self, spatial) : c10::MemoryFormat::Contiguous;
}

// torch's kernels use 32-bit window sizes and reject larger ones.
static bool in_32_bits(int64_t value) { return value <= std::numeric_limits<int32_t>::max(); }

bool Windows::fit(const Tensor& self, int64_t spatial, bool ceil_mode) {
  if (kernel.empty() || stride.empty() || padding.empty() || dilation.empty()) return false;
  sizes.assign(self.sizes().begin(), self.sizes().end());
  for (int64_t i = 0; i < spatial; ++i) {
    if (kernel[i] < 1 || stride[i] < 1 || dilation[i] < 1 || padding[i] < 0) return false;
    if (!in_32_bits(kernel[i]) || !in_32_bits(stride[i]) || !in_32_bits(dilation[i]) ||
        !in_32_bits(padding[i]))
      return false;
    // The limit is half of the kernel size, not of its dilated span.
    if (padding[i] > kernel[i] / 2) return false;
    int64_t& size = sizes[self.dim() - spatial + i];
    // torch's function below rounds in 32 bits, as its kernels do.
    const int64_t span = (kernel[i] - 1) * dilation[i] + 1, padded = size + 2 * padding[i];
    TORCH_CHECK(padded + std::numeric_limits<int32_t>::max() > span, "pooling: a window of ", span,
                " cells is larger than the padded input of ", padded, " cells");
    size = at::native::pooling_output_shape<int64_t>(size, kernel[i], padding[i], stride[i],
                                                     dilation[i], ceil_mode);
    if (size < 1) return false;
  }
  return true;
}

bool fits_indices(const Tensor& grad_output, const Tensor& indices) {
  return on_same_device(grad_output, indices) && indices.scalar_type() == at::kLong &&
         indices.sizes() == grad_output.sizes();
}

bool input_gradient(OutputPlan& plan, const Tensor& self, c10::MemoryFormat format) {
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), format);
  return true;
}

bool adaptive_pool(OutputPlan& plan, int64_t spatial, const Tensor& self,
                   at::IntArrayRef output_size, bool with_indices) {
  if (!is_image(self, spatial) || static_cast<int64_t>(output_size.size()) != spatial) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  for (int64_t i = 0; i < spatial; ++i) {
    if (output_size[i] < 0) return false;
    sizes[self.dim() - spatial + i] = output_size[i];
  }
  plan.start(self);
  const c10::MemoryFormat format = format_of(self, spatial);
  plan.output(sizes, self.scalar_type(), format);
  if (with_indices) plan.output(sizes, at::kLong, format);
  return true;
}

bool adaptive_pool_backward(OutputPlan& plan, int64_t spatial, const Tensor& grad_output,
                            const Tensor& self, const Tensor* indices) {
  if (!alike(self, grad_output) || !is_image(self, spatial)) return false;
  if (grad_output.dim() != self.dim()) return false;
  for (int64_t d = 0; d < self.dim() - spatial; ++d) {
    if (grad_output.size(d) != self.size(d)) return false;
  }
  for (int64_t d = self.dim() - spatial; d < self.dim(); ++d) {
    if (grad_output.size(d) == 0) return false;
  }
  if (indices != nullptr && !fits_indices(grad_output, *indices)) return false;
  return input_gradient(plan, self, format_of(self, spatial));
}

}  // namespace dl::core::plans
