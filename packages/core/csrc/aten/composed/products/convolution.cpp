// Convolution over one, two and three dimensions, forward and transposed, and its gradients. The
// contract has one operator for each of these, except for one dimension: 1-D tensors get a second
// dimension of size 1.
#include <ATen/TracerMode.h>
#include <ATen/ops/convolution_compositeexplicitautograd_dispatch.h>

#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/checked_sizes.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

Site convolution_site{"convolution",
                      {"convolution", "convolution.out", "_convolution"},
                      {Op::diopiConvolution2d, Op::diopiConvolution3d, Op::diopiConvTranspose2d,
                       Op::diopiConvTranspose3d}};
Site convolution_backward_site{
    "convolution_backward",
    {"convolution_backward", "convolution_backward.out"},
    {Op::diopiConvolution2dBackward, Op::diopiConvolution3dBackward,
     Op::diopiConvTranspose2dBackward, Op::diopiConvTranspose3dBackward}};

// The non-tensor arguments of a call, for as many dimensions as the contract's operator has.
struct Geometry {
  bool lifted;   // one dimension was expanded to two
  int64_t dims;  // 2 or 3
  bool transposed;
  int64_t groups;
  DimVector stride, padding, dilation, output_padding;

  Tensor lift(const Tensor& tensor) const { return lifted ? tensor.unsqueeze(2) : tensor; }
};

// Returns one value for each dimension, from a list that has one value or a value for each.
DimVector expand_values(at::IntArrayRef values, int64_t dims, bool lifted, int64_t neutral) {
  DimVector result;
  if (lifted) result.push_back(neutral);
  for (int64_t i = result.size(); i < dims; ++i)
    result.push_back(values.empty() ? neutral : values[values.size() == 1 ? 0 : i - lifted]);
  return result;
}

bool read_geometry(Geometry& geometry, const Tensor& input, const Tensor& weight,
                   at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                   bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  const int64_t given = weight.dim() - 2;
  if (given < 1 || given > 3 || input.dim() != weight.dim()) return false;
  for (const at::IntArrayRef list : {stride, padding, dilation}) {
    if (list.size() > 1 && static_cast<int64_t>(list.size()) != given) return false;
  }
  const bool lifted = given == 1;
  const int64_t dims = lifted ? 2 : given;
  geometry = {lifted,
              dims,
              transposed,
              groups,
              expand_values(stride, dims, lifted, 1),
              expand_values(padding, dims, lifted, 0),
              expand_values(dilation, dims, lifted, 1),
              expand_values(output_padding, dims, lifted, 0)};
  const auto at_least = [](const DimVector& values, int64_t bound) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v >= bound; });
  };
  return at_least(geometry.stride, 1) && at_least(geometry.dilation, 1) &&
         at_least(geometry.padding, 0) && at_least(geometry.output_padding, 0);
}

// Returns false if torch raises an error, or if there is nothing to compute.
bool sizes_of_result(const Geometry& geometry, const Tensor& input, const Tensor& weight,
                     DimVector& sizes) {
  if (geometry.groups < 1 || weight.numel() == 0 || !plans::floating(input)) return false;
  const int64_t channels = geometry.transposed ? weight.size(0) : weight.size(1) * geometry.groups;
  if (input.size(1) != channels || weight.size(0) % geometry.groups != 0) return false;
  sizes = {input.size(0), geometry.transposed ? weight.size(1) * geometry.groups : weight.size(0)};
  const int64_t given = weight.dim() - 2, skipped = geometry.dims - given;
  for (int64_t i = 0; i < given; ++i) {
    const int64_t g = i + skipped, stride = geometry.stride[g], padding = geometry.padding[g];
    const int64_t size = input.size(2 + i);
    if (size < 1) return false;
    const int64_t reach = checked_product({geometry.dilation[g], weight.size(2 + i) - 1},
                                          "convolution: the size of a window");
    const int64_t pads = checked_product({padding, 2}, "convolution: the padding of both ends");
    if (geometry.transposed) {
      if (geometry.output_padding[g] >= std::max(stride, geometry.dilation[g])) return false;
      const int64_t steps =
          checked_product({size - 1, stride}, "convolution: the size of the result");
      sizes.push_back(checked_sum({steps, -pads, reach, 1, geometry.output_padding[g]},
                                  "convolution: the size of the result"));
    } else {
      const int64_t room =
          checked_sum({size, pads, -reach, -1}, "convolution: the size of the padded input");
      sizes.push_back(room < 0 ? 0 : room / stride + 1);
    }
    if (sizes.back() < 1) return false;
  }
  return true;
}

// Channels-last if any operand has that format, as in torch's convolutions.
c10::MemoryFormat common_format(const Tensor& input, const Tensor& weight) {
  const c10::MemoryFormat format = input.suggest_memory_format();
  return format == c10::MemoryFormat::Contiguous ? weight.suggest_memory_format() : format;
}

using ForwardFunction = decltype(&::diopiConvolution2d);
using TransposedFunction = decltype(&::diopiConvTranspose2d);
using BackwardFunction = decltype(&::diopiConvolution2dBackward);
using TransposedBackwardFunction = decltype(&::diopiConvTranspose2dBackward);

template <typename Function>
Function contract_function(const Device& owner, const Geometry& geometry, Op two, Op three) {
  return reinterpret_cast<Function>(owner.function(geometry.dims == 2 ? two : three));
}

bool forward_native(OutputPlan& plan, GivenOutputs given, const Tensor& input, const Tensor& weight,
                    const OptionalTensor& bias, at::IntArrayRef stride, at::IntArrayRef padding,
                    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
                    int64_t groups) {
  const int device_index = ::dl::core::device_of(input);
  if (device_index < 0 || convolution_site.disabled.load(std::memory_order_relaxed)) return false;
  Geometry geometry;
  DimVector sizes;
  if (!plans::alike(input, weight, bias) ||
      !read_geometry(geometry, input, weight, stride, padding, dilation, transposed, output_padding,
                     groups) ||
      !sizes_of_result(geometry, input, weight, sizes))
    return false;
  if (bias && bias->defined() && (bias->dim() != 1 || bias->size(0) != sizes[1])) return false;
  const Device& owner = device_unchecked(device_index);
  const auto plain = contract_function<ForwardFunction>(owner, geometry, Op::diopiConvolution2d,
                                                        Op::diopiConvolution3d);
  const auto reverse = contract_function<TransposedFunction>(
      owner, geometry, Op::diopiConvTranspose2d, Op::diopiConvTranspose3d);
  const char* const plain_name = geometry.dims == 2 ? "diopiConvolution2d" : "diopiConvolution3d";
  const char* const reverse_name =
      geometry.dims == 2 ? "diopiConvTranspose2d" : "diopiConvTranspose3d";
  if (transposed ? reverse == nullptr : plain == nullptr)
    return note_absence(convolution_site, transposed ? reverse_name : plain_name);
  plan.start(input);
  plan.output(sizes, input.scalar_type(), common_format(input, weight));
  if (!plan.make_outputs(given)) return false;
  const Tensor out = geometry.lift(plan.out(0)), from = geometry.lift(input),
               taps = geometry.lift(weight);
  NativeCall call(convolution_site, device_index);
  OutputHandle out_handle(out);
  if (transposed) {
    return call.run(reverse_name, reverse, out_handle.get(), TensorHandle(from).get(),
                    TensorHandle(taps).get(), OptionalHandle(bias).get(), to_size(geometry.stride),
                    to_size(geometry.padding), to_size(geometry.output_padding), groups,
                    to_size(geometry.dilation));
  }
  return call.run(plain_name, plain, out_handle.get(), TensorHandle(from).get(),
                  TensorHandle(taps).get(), OptionalHandle(bias).get(), to_size(geometry.stride),
                  to_size(geometry.padding), to_size(geometry.dilation), groups);
}

bool backward_native(OutputPlan& plan, GivenOutputs given, const Tensor& grad_output,
                     const Tensor& input, const Tensor& weight, at::OptionalIntArrayRef bias_sizes,
                     at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                     bool transposed, at::IntArrayRef output_padding, int64_t groups,
                     std::array<bool, 3> mask) {
  const int device_index = ::dl::core::device_of(grad_output);
  if (device_index < 0 || convolution_backward_site.disabled.load(std::memory_order_relaxed))
    return false;
  Geometry geometry;
  DimVector sizes;
  if (!plans::alike(grad_output, input, weight) ||
      !read_geometry(geometry, input, weight, stride, padding, dilation, transposed, output_padding,
                     groups) ||
      !sizes_of_result(geometry, input, weight, sizes) ||
      grad_output.sizes() != at::IntArrayRef(sizes))
    return false;
  const Device& owner = device_unchecked(device_index);
  const auto plain = contract_function<BackwardFunction>(
      owner, geometry, Op::diopiConvolution2dBackward, Op::diopiConvolution3dBackward);
  const auto reverse = contract_function<TransposedBackwardFunction>(
      owner, geometry, Op::diopiConvTranspose2dBackward, Op::diopiConvTranspose3dBackward);
  const char* const plain_name =
      geometry.dims == 2 ? "diopiConvolution2dBackward" : "diopiConvolution3dBackward";
  const char* const reverse_name =
      geometry.dims == 2 ? "diopiConvTranspose2dBackward" : "diopiConvTranspose3dBackward";
  if (transposed ? reverse == nullptr : plain == nullptr)
    return note_absence(convolution_backward_site, transposed ? reverse_name : plain_name);
  plan.start(input);
  const c10::MemoryFormat format = common_format(input, weight);
  const DimVector bias = {sizes[1]};
  const at::IntArrayRef shapes[3] = {input.sizes(), weight.sizes(), bias};
  for (int i = 0; i < 3; ++i) {
    if (mask[i]) {
      plan.output(shapes[i], input.scalar_type(), i < 2 ? format : c10::MemoryFormat::Contiguous);
    } else {
      plan.absent_output();
    }
  }
  if (!plan.make_outputs(given)) return false;
  const auto lifted_out = [&](int i) { return mask[i] ? geometry.lift(plan.out(i)) : Tensor(); };
  const Tensor grad_input = lifted_out(0), grad_weight = lifted_out(1);
  const Tensor grad = geometry.lift(grad_output), from = geometry.lift(input),
               taps = geometry.lift(weight);
  NativeCall call(convolution_backward_site, device_index);
  OptionalOutputHandle input_handle(grad_input), weight_handle(grad_weight),
      bias_handle(plan.out(2));
  diopiSize_t bias_size = bias_sizes ? to_size(*bias_sizes) : diopiSize_t{};
  diopiSize_t* const with_bias = bias_sizes ? &bias_size : nullptr;
  if (transposed) {
    return call.run(reverse_name, reverse, input_handle.get(), weight_handle.get(),
                    bias_handle.get(), TensorHandle(grad).get(), TensorHandle(from).get(),
                    TensorHandle(taps).get(), with_bias, to_size(geometry.stride),
                    to_size(geometry.padding), to_size(geometry.dilation),
                    to_size(geometry.output_padding), groups);
  }
  return call.run(plain_name, plain, input_handle.get(), weight_handle.get(), bias_handle.get(),
                  TensorHandle(grad).get(), TensorHandle(from).get(), TensorHandle(taps).get(),
                  with_bias, to_size(geometry.stride), to_size(geometry.padding),
                  to_size(geometry.dilation), groups);
}

// torch.jit.trace records `_convolution`, which torch's own kernel of `convolution` calls, and
// ignores `convolution` itself: with a kernel that does not call it, the traced result would be a
// constant.
Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                   at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                   bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  if (C10_UNLIKELY(at::tracer::impl::is_dispatch_enabled())) {
    return at::compositeexplicitautograd::convolution(input, weight, bias, stride, padding,
                                                      dilation, transposed, output_padding, groups);
  }
  OutputPlan plan;
  if (C10_LIKELY(forward_native(plan, {}, input, weight, bias, stride, padding, dilation,
                                transposed, output_padding, groups)))
    return plan.take(0);
  return on_cpu<"convolution", decltype(convolution)>(input, weight, bias, stride, padding,
                                                      dilation, transposed, output_padding, groups);
}

Tensor& convolution_out(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                        at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                        bool transposed, at::IntArrayRef output_padding, int64_t groups,
                        Tensor& out) {
  if (C10_UNLIKELY(at::tracer::impl::is_dispatch_enabled())) {
    return at::compositeexplicitautograd::convolution_outf(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out);
  }
  OutputPlan plan;
  if (C10_LIKELY(forward_native(plan, {&out}, input, weight, bias, stride, padding, dilation,
                                transposed, output_padding, groups)))
    return out;
  return on_cpu<"convolution.out", decltype(convolution_out)>(
      input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out);
}

// The operator that traced programs call. Its flags are for cuDNN and are ignored.
Tensor traced_convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                          at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                          bool transposed, at::IntArrayRef output_padding, int64_t groups, bool,
                          bool, bool, bool) {
  return composed::convolution(input, weight, bias, stride, padding, dilation, transposed,
                               output_padding, groups);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    at::OptionalIntArrayRef bias_sizes, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups,
    std::array<bool, 3> mask) {
  OutputPlan plan;
  if (C10_LIKELY(backward_native(plan, {}, grad_output, input, weight, bias_sizes, stride, padding,
                                 dilation, transposed, output_padding, groups, mask)))
    return {plan.take(0), plan.take(1), plan.take(2)};
  return on_cpu<"convolution_backward", decltype(convolution_backward)>(
      grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
      groups, mask);
}

std::tuple<Tensor&, Tensor&, Tensor&> convolution_backward_out(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    at::OptionalIntArrayRef bias_sizes, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups,
    std::array<bool, 3> mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  OutputPlan plan;
  if (C10_LIKELY(backward_native(plan, {&out0, &out1, &out2}, grad_output, input, weight,
                                 bias_sizes, stride, padding, dilation, transposed, output_padding,
                                 groups, mask)))
    return {out0, out1, out2};
  return on_cpu<"convolution_backward.out", decltype(convolution_backward_out)>(
      grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
      groups, mask, out0, out1, out2);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("convolution", convolution);
  DL_KERNEL("convolution.out", convolution_out);
  DL_KERNEL("_convolution", traced_convolution);
  DL_KERNEL("convolution_backward", convolution_backward);
  DL_KERNEL("convolution_backward.out", convolution_backward_out);
}

}  // namespace dl::core::composed
