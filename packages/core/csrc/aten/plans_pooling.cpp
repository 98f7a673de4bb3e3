#include "aten/plans_pooling.h"

#include <ATen/native/Pool.h>

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

// One entry for each axis, from a list of one or as many; empty where it has another length.
DimVector per_axis(at::IntArrayRef values, at::IntArrayRef otherwise, int64_t spatial) {
  const at::IntArrayRef given = values.empty() ? otherwise : values;
  if (given.size() == 1) return DimVector(spatial, given[0]);
  if (static_cast<int64_t>(given.size()) != spatial) return {};
  return DimVector(given.begin(), given.end());
}

// (N, C, …) or (C, …) with elements in every dimension but the batch.
bool is_image(const Tensor& self, int64_t spatial) {
  if (!alike(self) || !floating(self)) return false;
  if (self.dim() != spatial + 1 && self.dim() != spatial + 2) return false;
  for (int64_t d = self.dim() == spatial + 2 ? 1 : 0; d < self.dim(); ++d) {
    if (self.size(d) == 0) return false;
  }
  return true;
}

// Without a batch, four dimensions would be taken for a batch of planes.
c10::MemoryFormat own_format(const Tensor& self, int64_t spatial) {
  return self.dim() == spatial + 2 ? self.suggest_memory_format() : c10::MemoryFormat::Contiguous;
}

// Outputs over windows, in the order of `self`. A volume without a batch is laid out as one with
// it.
void ordered_output(DirectPlan& plan, const Tensor& self, int64_t spatial, at::IntArrayRef sizes,
                    std::initializer_list<at::ScalarType> types) {
  const bool single = spatial == 3 && self.dim() == 4 && !self.is_contiguous() &&
                      self.unsqueeze(0).is_contiguous(c10::MemoryFormat::ChannelsLast3d);
  if (single) {
    DimVector batched(sizes.begin(), sizes.end());
    batched.insert(batched.begin(), 1);
    const auto strides = c10::get_channels_last_strides_3d(batched);
    plan.keep_strides(at::IntArrayRef(strides).slice(1));
  }
  for (const at::ScalarType type : types) {
    if (single) {
      plan.strided_output(sizes, type);
    } else {
      plan.output(sizes, type, own_format(self, spatial));
    }
  }
}

// torch keeps the order of planes, and that of volumes only for maxima of given windows.
c10::MemoryFormat format_of(const Tensor& self, int64_t spatial) {
  return spatial == 2 ? own_format(self, spatial) : c10::MemoryFormat::Contiguous;
}

struct Windows {
  DimVector kernel, stride, padding, dilation, sizes;

  // Works out the sizes of the output; false where torch would object.
  bool fit(const Tensor& self, int64_t spatial, bool ceil_mode) {
    if (kernel.empty() || stride.empty() || padding.empty() || dilation.empty()) return false;
    sizes.assign(self.sizes().begin(), self.sizes().end());
    for (int64_t i = 0; i < spatial; ++i) {
      if (kernel[i] < 1 || stride[i] < 1 || dilation[i] < 1 || padding[i] < 0) return false;
      if (padding[i] * 2 > (kernel[i] - 1) * dilation[i] + 1) return false;
      int64_t& size = sizes[self.dim() - spatial + i];
      size = at::native::pooling_output_shape<int64_t>(size, kernel[i], padding[i], stride[i],
                                                       dilation[i], ceil_mode);
      if (size < 1) return false;
    }
    return true;
  }
};

void add_lists(DirectPlan& plan, const Windows& windows) {
  plan.add_list(windows.kernel);
  plan.add_list(windows.stride);
  plan.add_list(windows.padding);
  plan.add_list(windows.dilation);
}

bool fits_indices(const Tensor& grad_output, const Tensor& indices) {
  return on_same_device(grad_output, indices) && indices.scalar_type() == at::kLong &&
         indices.sizes() == grad_output.sizes();
}

bool input_gradient(DirectPlan& plan, const Tensor& self, c10::MemoryFormat format) {
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), format);
  return true;
}

}  // namespace

bool max_pool(DirectPlan& plan, int64_t spatial, const Tensor& self, at::IntArrayRef kernel,
              at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
              bool ceil_mode) {
  Windows windows{per_axis(kernel, {}, spatial),
                  per_axis(stride, kernel, spatial),
                  per_axis(padding, {}, spatial),
                  per_axis(dilation, {}, spatial),
                  {}};
  if (!is_image(self, spatial) || !windows.fit(self, spatial, ceil_mode)) return false;
  plan.start(self);
  ordered_output(plan, self, spatial, windows.sizes, {self.scalar_type(), at::kLong});
  add_lists(plan, windows);
  return true;
}

bool max_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                       const Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode,
                       const Tensor& indices) {
  Windows windows{per_axis(kernel, {}, spatial),
                  per_axis(stride, kernel, spatial),
                  per_axis(padding, {}, spatial),
                  per_axis(dilation, {}, spatial),
                  {}};
  if (!alike(self, grad_output) || !is_image(self, spatial)) return false;
  if (!windows.fit(self, spatial, ceil_mode) || grad_output.sizes() != windows.sizes) return false;
  if (!fits_indices(grad_output, indices)) return false;
  plan.start(self);
  ordered_output(plan, self, spatial, self.sizes(), {self.scalar_type()});
  add_lists(plan, windows);
  return true;
}

bool avg_pool(DirectPlan& plan, int64_t spatial, const Tensor& self, at::IntArrayRef kernel,
              at::IntArrayRef stride, at::IntArrayRef padding, bool ceil_mode,
              std::optional<int64_t> divisor) {
  Windows windows{per_axis(kernel, {}, spatial),
                  per_axis(stride, kernel, spatial),
                  per_axis(padding, {}, spatial),
                  DimVector(spatial, 1),
                  {}};
  if (!is_image(self, spatial) || !windows.fit(self, spatial, ceil_mode)) return false;
  if (divisor && *divisor == 0) return false;
  // Torch wants volumes as large as the window, before padding.
  for (int64_t i = 0; spatial == 3 && i < spatial; ++i) {
    if (self.size(self.dim() - spatial + i) < windows.kernel[i]) return false;
  }
  plan.start(self);
  plan.output(windows.sizes, self.scalar_type(), format_of(self, spatial));
  add_lists(plan, windows);
  return true;
}

bool avg_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                       const Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
                       at::IntArrayRef padding, bool ceil_mode, std::optional<int64_t> divisor) {
  Windows windows{per_axis(kernel, {}, spatial),
                  per_axis(stride, kernel, spatial),
                  per_axis(padding, {}, spatial),
                  DimVector(spatial, 1),
                  {}};
  if (!alike(self, grad_output) || !is_image(self, spatial)) return false;
  if (!windows.fit(self, spatial, ceil_mode) || grad_output.sizes() != windows.sizes) return false;
  if (divisor && *divisor == 0) return false;
  add_lists(plan, windows);
  return input_gradient(plan, self, format_of(self, spatial));
}

bool adaptive_pool(DirectPlan& plan, int64_t spatial, const Tensor& self,
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

bool adaptive_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
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

bool fractional_pool_backward(DirectPlan& plan, int64_t spatial, const Tensor& grad_output,
                              const Tensor& self, at::IntArrayRef output_size,
                              const Tensor& indices) {
  if (static_cast<int64_t>(output_size.size()) != spatial) return false;
  if (grad_output.dim() != self.dim()) return false;
  for (int64_t i = 0; i < spatial; ++i) {
    if (grad_output.size(self.dim() - spatial + i) != output_size[i]) return false;
  }
  return adaptive_pool_backward(plan, spatial, grad_output, self, &indices);
}

}  // namespace dl::core::plans
