#include "aten/plans/avg_pooling.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {

bool avg_pool(OutputPlan& plan, WindowValues& values, int64_t spatial, const Tensor& self,
              at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
              bool ceil_mode, std::optional<int64_t> divisor) {
  Windows windows{{per_axis(kernel, {}, spatial), per_axis(stride, kernel, spatial),
                   per_axis(padding, {}, spatial), DimVector(spatial, 1)},
                  {}};
  if (!is_image(self, spatial) || !windows.fit(self, spatial, ceil_mode)) return false;
  if (divisor && *divisor == 0) return false;
  // torch requires volumes to be as large as the window, before padding.
  for (int64_t i = 0; spatial == 3 && i < spatial; ++i) {
    if (self.size(self.dim() - spatial + i) < windows.kernel[i]) return false;
  }
  plan.start(self);
  plan.output(windows.sizes, self.scalar_type(), format_of(self, spatial));
  values = std::move(windows);
  return true;
}

bool avg_pool_backward(OutputPlan& plan, WindowValues& values, int64_t spatial,
                       const Tensor& grad_output, const Tensor& self, at::IntArrayRef kernel,
                       at::IntArrayRef stride, at::IntArrayRef padding, bool ceil_mode,
                       std::optional<int64_t> divisor) {
  Windows windows{{per_axis(kernel, {}, spatial), per_axis(stride, kernel, spatial),
                   per_axis(padding, {}, spatial), DimVector(spatial, 1)},
                  {}};
  if (!alike(self, grad_output) || !is_image(self, spatial)) return false;
  if (!windows.fit(self, spatial, ceil_mode) || grad_output.sizes() != windows.sizes) return false;
  if (divisor && *divisor == 0) return false;
  values = std::move(windows);
  return input_gradient(plan, self, format_of(self, spatial));
}

}  // namespace dl::core::plans
