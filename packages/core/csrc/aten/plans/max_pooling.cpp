#include "aten/plans/max_pooling.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

// Describes an output over windows, with the memory order of `self`. An unbatched volume is laid
// out as if it had a batch dimension.
void ordered_output(OutputPlan& plan, const Tensor& self, int64_t spatial, at::IntArrayRef sizes,
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

}  // namespace

bool max_pool(OutputPlan& plan, WindowValues& values, int64_t spatial, const Tensor& self,
              at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
              at::IntArrayRef dilation, bool ceil_mode) {
  Windows windows{{per_axis(kernel, {}, spatial), per_axis(stride, kernel, spatial),
                   per_axis(padding, {}, spatial), per_axis(dilation, {}, spatial)},
                  {}};
  if (!is_image(self, spatial) || !windows.fit(self, spatial, ceil_mode)) return false;
  plan.start(self);
  ordered_output(plan, self, spatial, windows.sizes, {self.scalar_type(), at::kLong});
  values = std::move(windows);
  return true;
}

bool max_pool_backward(OutputPlan& plan, WindowValues& values, int64_t spatial,
                       const Tensor& grad_output, const Tensor& self, at::IntArrayRef kernel,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                       bool ceil_mode, const Tensor& indices) {
  Windows windows{{per_axis(kernel, {}, spatial), per_axis(stride, kernel, spatial),
                   per_axis(padding, {}, spatial), per_axis(dilation, {}, spatial)},
                  {}};
  if (!alike(self, grad_output) || !is_image(self, spatial)) return false;
  if (!windows.fit(self, spatial, ceil_mode) || grad_output.sizes() != windows.sizes) return false;
  if (!fits_indices(grad_output, indices)) return false;
  plan.start(self);
  ordered_output(plan, self, spatial, self.sizes(), {self.scalar_type()});
  values = std::move(windows);
  return true;
}

bool fractional_pool_backward(OutputPlan& plan, int64_t spatial, const Tensor& grad_output,
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
