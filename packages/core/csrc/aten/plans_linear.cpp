// Plans of matrix products and pooling.
#include <ATen/native/Pool.h>

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

// A list of two, from a list of one or two.
DimVector pair_of(at::IntArrayRef values, at::IntArrayRef otherwise) {
  const at::IntArrayRef given = values.empty() ? otherwise : values;
  if (given.empty()) return {};
  return {given[0], given.size() == 1 ? given[0] : given[1]};
}

bool all_positive(at::IntArrayRef values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value > 0; });
}

bool expands_to(const Tensor& tensor, at::IntArrayRef sizes) {
  if (tensor.dim() > static_cast<int64_t>(sizes.size())) return false;
  for (int64_t i = 1; i <= tensor.dim(); ++i) {
    if (tensor.size(-i) != 1 && tensor.size(-i) != sizes[sizes.size() - i]) return false;
  }
  return true;
}

}  // namespace

bool matrix_product(DirectPlan& plan, const Tensor& self, const Tensor& mat2) {
  if (!alike(self, mat2) || self.dim() != 2 || mat2.dim() != 2 || self.size(1) != mat2.size(0))
    return false;
  plan.start(self);
  plan.output({self.size(0), mat2.size(1)}, self.scalar_type());
  return true;
}

bool batched_product(DirectPlan& plan, const Tensor& self, const Tensor& mat2) {
  if (!alike(self, mat2) || self.dim() != 3 || mat2.dim() != 3) return false;
  if (self.size(0) != mat2.size(0) || self.size(2) != mat2.size(1)) return false;
  plan.start(self);
  plan.output({self.size(0), self.size(1), mat2.size(2)}, self.scalar_type());
  return true;
}

bool added_product(DirectPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  if (!alike(mat1, self) || !matrix_product(plan, mat1, mat2)) return false;
  return floating(mat1) && expands_to(self, {mat1.size(0), mat2.size(1)});
}

bool added_batched_product(DirectPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2) {
  if (!alike(batch1, self) || !batched_product(plan, batch1, batch2)) return false;
  return floating(batch1) && expands_to(self, {batch1.size(0), batch1.size(1), batch2.size(2)});
}

bool max_pool2d(DirectPlan& plan, const Tensor& self, at::IntArrayRef kernel,
                at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                bool ceil_mode) {
  if (!alike(self) || self.dim() != 4 || self.numel() == 0 || !floating(self)) return false;
  const DimVector window = pair_of(kernel, {}), steps = pair_of(stride, kernel);
  const DimVector pads = pair_of(padding, {}), spread = pair_of(dilation, {});
  if (!all_positive(window) || !all_positive(steps) || !all_positive(spread)) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  for (int i = 0; i < 2; ++i) {
    if (pads[i] < 0 || pads[i] * 2 > (window[i] - 1) * spread[i] + 1) return false;
    sizes[2 + i] = at::native::pooling_output_shape<int64_t>(self.size(2 + i), window[i], pads[i],
                                                             steps[i], spread[i], ceil_mode);
    if (sizes[2 + i] < 1) return false;
  }
  plan.start(self);
  const c10::MemoryFormat format = self.suggest_memory_format();
  plan.output(sizes, self.scalar_type(), format);
  plan.output(sizes, at::kLong, format);
  plan.add_list(window);
  plan.add_list(steps);
  plan.add_list(pads);
  plan.add_list(spread);
  return true;
}

bool max_pool2d_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& self,
                         at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
                         at::IntArrayRef dilation, const Tensor& indices) {
  if (!alike(self, grad_output) || self.dim() != 4 || indices.scalar_type() != at::kLong)
    return false;
  if (!on_same_device(self, indices) || indices.sizes() != grad_output.sizes()) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), self.suggest_memory_format());
  plan.add_list(pair_of(kernel, {}));
  plan.add_list(pair_of(stride, kernel));
  plan.add_list(pair_of(padding, {}));
  plan.add_list(pair_of(dilation, {}));
  return true;
}

}  // namespace dl::core::plans
