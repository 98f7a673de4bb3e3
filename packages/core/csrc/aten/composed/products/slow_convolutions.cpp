// slow_conv2d and related operators, torch's native convolutions: all call aten::convolution.
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>

#include <tuple>
#include <vector>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

using at::IntArrayRef;

constexpr int64_t kOnes[3] = {1, 1, 1}, kZeros[3] = {0, 0, 0};
IntArrayRef ones(const Tensor& weight) { return {kOnes, static_cast<size_t>(weight.dim() - 2)}; }
IntArrayRef zeros(const Tensor& weight) { return {kZeros, static_cast<size_t>(weight.dim() - 2)}; }

// Returns the weight with its window dimensions, which the argument may have flattened. Weights of
// `transposed` convolutions begin with the input channels, as usual.
Tensor with_window(const Tensor& weight, IntArrayRef window) {
  if (weight.dim() == static_cast<int64_t>(window.size()) + 2) return weight;
  TORCH_CHECK(weight.dim() == 2, "[dl] a weight with ", weight.dim(),
              " dimensions has no window of ", window,
              "; give it as (filters, channels, window) or flattened to two");
  std::vector<int64_t> sizes = {weight.size(0), -1};
  sizes.insert(sizes.end(), window.begin(), window.end());
  return weight.view(sizes);
}

Tensor convolve(const Tensor& self, const Tensor& given, IntArrayRef window,
                const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                std::optional<IntArrayRef> dilation, bool transposed = false,
                IntArrayRef output_padding = {}) {
  const Tensor weight = with_window(given, window);
  // A single sample gets a batch dimension.
  const bool single = self.dim() == weight.dim() - 1;
  const Tensor out = at::convolution(single ? self.unsqueeze(0) : self, weight, bias, stride,
                                     padding, dilation.value_or(ones(weight)), transposed,
                                     output_padding.empty() ? zeros(weight) : output_padding, 1);
  return single ? out.squeeze(0) : out;
}

Tensor& convolve_out(Tensor& out, const Tensor& self, const Tensor& given, IntArrayRef window,
                     const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                     std::optional<IntArrayRef> dilation, bool transposed = false,
                     IntArrayRef output_padding = {}) {
  const Tensor weight = with_window(given, window);
  if (self.dim() == weight.dim()) {
    return at::convolution_out(out, self, weight, bias, stride, padding,
                               dilation.value_or(ones(weight)), transposed,
                               output_padding.empty() ? zeros(weight) : output_padding, 1);
  }
  const Tensor made =
      convolve(self, weight, window, bias, stride, padding, dilation, transposed, output_padding);
  out.resize_(made.sizes());
  return out.copy_(made);
}

Tensor slow_forward(const Tensor& self, const Tensor& weight, IntArrayRef window,
                    const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding) {
  return convolve(self, weight, window, bias, stride, padding, std::nullopt);
}

Tensor& forward_out(const Tensor& self, const Tensor& weight, IntArrayRef window,
                    const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                    Tensor& out) {
  return convolve_out(out, self, weight, window, bias, stride, padding, std::nullopt);
}

Tensor slow_conv_dilated(const Tensor& self, const Tensor& weight, IntArrayRef window,
                         const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation) {
  return convolve(self, weight, window, bias, stride, padding, dilation);
}

Tensor slow_conv_transpose(const Tensor& self, const Tensor& weight, IntArrayRef window,
                           const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef output_padding, IntArrayRef dilation) {
  return convolve(self, weight, window, bias, stride, padding, dilation, true, output_padding);
}

Tensor& slow_conv_transpose_out(const Tensor& self, const Tensor& weight, IntArrayRef window,
                                const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef output_padding, IntArrayRef dilation, Tensor& out) {
  return convolve_out(out, self, weight, window, bias, stride, padding, dilation, true,
                      output_padding);
}

std::tuple<Tensor, Tensor, Tensor> slow_backward(const Tensor& grad_output, const Tensor& self,
                                                 const Tensor& given, IntArrayRef window,
                                                 IntArrayRef stride, IntArrayRef padding,
                                                 std::array<bool, 3> mask) {
  const Tensor weight = with_window(given, window);
  const bool single = self.dim() == weight.dim() - 1;
  const int64_t filters[1] = {weight.size(0)};
  auto [input, taps, bias] = at::convolution_backward(
      single ? grad_output.unsqueeze(0) : grad_output, single ? self.unsqueeze(0) : self, weight,
      IntArrayRef(filters), stride, padding, ones(weight), false, zeros(weight), 1, mask);
  if (single && input.defined()) input = input.squeeze(0);
  if (taps.defined()) taps = taps.view(given.sizes());
  return {std::move(input), std::move(taps), std::move(bias)};
}

std::tuple<Tensor&, Tensor&, Tensor&> slow_backward_out(const Tensor& grad_output,
                                                        const Tensor& self, const Tensor& weight,
                                                        IntArrayRef window, IntArrayRef stride,
                                                        IntArrayRef padding, Tensor& grad_input,
                                                        Tensor& grad_weight, Tensor& grad_bias) {
  Tensor* const outs[3] = {&grad_input, &grad_weight, &grad_bias};
  const auto made =
      slow_backward(grad_output, self, weight, window, stride, padding,
                    {grad_input.defined(), grad_weight.defined(), grad_bias.defined()});
  const Tensor* const from[3] = {&std::get<0>(made), &std::get<1>(made), &std::get<2>(made)};
  for (int i = 0; i < 3; ++i) {
    if (!outs[i]->defined()) continue;
    outs[i]->resize_(from[i]->sizes());
    outs[i]->copy_(*from[i]);
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_slow_conv2d_forward", slow_forward);
  DL_COMPOSED("_slow_conv2d_forward.output", forward_out);
  DL_COMPOSED("_slow_conv2d_backward.output_mask", slow_backward);
  DL_COMPOSED("_slow_conv2d_backward.grad_input", slow_backward_out);
  DL_COMPOSED("slow_conv3d_forward", slow_forward);
  DL_COMPOSED("slow_conv3d_forward.output", forward_out);
  DL_COMPOSED("slow_conv_dilated2d", slow_conv_dilated);
  DL_COMPOSED("slow_conv_dilated3d", slow_conv_dilated);
  DL_COMPOSED("slow_conv_transpose2d", slow_conv_transpose);
  DL_COMPOSED("slow_conv_transpose2d.out", slow_conv_transpose_out);
  DL_COMPOSED("slow_conv_transpose3d", slow_conv_transpose);
  DL_COMPOSED("slow_conv_transpose3d.out", slow_conv_transpose_out);
}

}  // namespace dl::core::composed
