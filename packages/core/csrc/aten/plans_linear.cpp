// Plans of matrix products and convolutions.
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

// Channels-last as soon as one operand is, as torch's convolutions do.
c10::MemoryFormat common_format(const Tensor& input, const Tensor& weight) {
  const c10::MemoryFormat format = input.suggest_memory_format();
  return format == c10::MemoryFormat::Contiguous ? weight.suggest_memory_format() : format;
}

bool planar(const Tensor& input, const Tensor& weight, at::IntArrayRef stride,
            at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, int64_t groups) {
  return !transposed && input.dim() == 4 && weight.dim() == 4 && floating(input) && groups > 0 &&
         weight.size(1) * groups == input.size(1) && weight.size(0) % groups == 0 &&
         all_positive(stride) && all_positive(dilation) &&
         std::all_of(padding.begin(), padding.end(), [](int64_t p) { return p >= 0; }) &&
         input.numel() > 0 && weight.numel() > 0;
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

bool convolution(DirectPlan& plan, const Tensor& input, const Tensor& weight,
                 const OptionalTensor& bias, at::IntArrayRef stride, at::IntArrayRef padding,
                 at::IntArrayRef dilation, bool transposed, int64_t groups) {
  if (!alike(input, weight, bias)) return false;
  const DimVector steps = pair_of(stride, {}), pads = pair_of(padding, {}),
                  spread = pair_of(dilation, {});
  if (!planar(input, weight, steps, pads, spread, transposed, groups)) return false;
  if (bias && bias->defined() && (bias->dim() != 1 || bias->size(0) != weight.size(0)))
    return false;
  DimVector sizes = {input.size(0), weight.size(0), 0, 0};
  for (int i = 0; i < 2; ++i) {
    const int64_t window = spread[i] * (weight.size(2 + i) - 1) + 1;
    const int64_t room = input.size(2 + i) + 2 * pads[i] - window;
    if (room < 0) return false;
    sizes[2 + i] = room / steps[i] + 1;
  }
  plan.start(input);
  plan.output(sizes, input.scalar_type(), common_format(input, weight));
  plan.add_list(steps);
  plan.add_list(pads);
  plan.add_list(spread);
  return true;
}

bool convolution_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& input,
                          const Tensor& weight, at::OptionalIntArrayRef bias_sizes,
                          at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                          bool transposed, int64_t groups, std::array<bool, 3> mask) {
  if (!alike(grad_output, input, weight)) return false;
  const DimVector steps = pair_of(stride, {}), pads = pair_of(padding, {}),
                  spread = pair_of(dilation, {});
  if (!planar(input, weight, steps, pads, spread, transposed, groups)) return false;
  plan.start(input);
  const c10::MemoryFormat format = common_format(input, weight);
  const DimVector bias = {weight.size(0)};
  const at::IntArrayRef shapes[3] = {input.sizes(), weight.sizes(), bias};
  for (int i = 0; i < 3; ++i) {
    if (mask[i]) {
      plan.output(shapes[i], input.scalar_type(), i < 2 ? format : c10::MemoryFormat::Contiguous);
    } else {
      plan.absent_output();
    }
  }
  plan.add_list(steps);
  plan.add_list(pads);
  plan.add_list(spread);
  if (bias_sizes.has_value()) plan.add_list(*bias_sizes);
  return true;
}

}  // namespace dl::core::plans
