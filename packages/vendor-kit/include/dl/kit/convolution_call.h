// Conversion of dl-kernels' convolution call to the terms of dl/kit/convolution.h. The types of
// dl-kernels are template parameters, because only units that are compiled for a device include
// them.
#ifndef DL_KIT_CONVOLUTION_CALL_H_
#define DL_KIT_CONVOLUTION_CALL_H_

#include <cstdint>
#include <utility>

#include "dl/kit/base.h"
#include "dl/kit/convolution.h"

DL_KIT_BEGIN

// The sample dimension is always present.
template <class Tensor>
Images images_of(const Tensor& tensor, int axes) {
  Images images{static_cast<int>(tensor.dtype), tensor.data, {1}, {1}};
  const int64_t missing = axes + 2 - tensor.ndim;
  for (int64_t d = 0; d < tensor.ndim; ++d) {
    images.sizes[missing + d] = tensor.sizes[d];
    images.strides[missing + d] = tensor.strides[d];
  }
  return images;
}

// Converts kernels::Launch, ConvShape and TensorRef. Returns false if the windows end before the
// image does, which padding cannot express.
template <class Launch, class Shape, class Tensor>
bool describe_convolution(const Launch& launch, const Shape& shape, Direction direction,
                          const Tensor& input, const Tensor& weight, const Tensor& output,
                          Convolution* call) {
  call->direction = direction;
  call->axes = shape.dims;
  call->input = images_of(input, shape.dims);
  call->weight = images_of(weight, shape.dims);
  call->output = images_of(output, shape.dims);
  for (int i = 0; i < shape.dims; ++i) {
    const auto& axis = shape.axes[3 - shape.dims + i];
    // The largest padding at the end that adds no extra windows: a transposed convolution may have
    // fewer windows than its padding allows.
    const int64_t reached = axis.start(axis.output - 1) + axis.dilation * (axis.kernel - 1) + 1;
    const int64_t after = reached - axis.input + axis.stride - 1;
    call->stride[i] = axis.stride;
    call->dilation[i] = axis.dilation;
    call->before[i] = axis.padding;
    call->after[i] = after < axis.padding ? after : axis.padding;
    if (after < 0) return false;
  }
  call->stream = launch.stream();
  call->workspace = [&launch](int64_t bytes) { return launch.scratch()->take(bytes); };
  return true;
}

namespace detail {

// Functions for dl-kernels' table of libraries, with the types of the table.
template <class Steps, class Launch, class Shape, class Tensor>
struct ConvolutionFunctions {
  static bool forward(const Launch& launch, const Shape& shape, const Tensor& out,
                      const Tensor& input, const Tensor& weight, const void* bias) {
    Convolution call;
    return describe_convolution(launch, shape, Direction::kForward, input, weight, out, &call) &&
           Steps::convolve(launch, shape, out, bias, std::move(call));
  }
  static bool input_gradient(const Launch& launch, const Shape& shape, const Tensor& grad_input,
                             const Tensor& grad_output, const Tensor& weight) {
    Convolution call;
    return describe_convolution(launch, shape, Direction::kInputGradient, grad_input, weight,
                                grad_output, &call) &&
           Steps::gradient(launch, std::move(call));
  }
  static bool weight_gradient(const Launch& launch, const Shape& shape, const Tensor& grad_weight,
                              void* grad_bias, const Tensor& grad_output, const Tensor& input) {
    Convolution call;
    return grad_bias == nullptr &&
           describe_convolution(launch, shape, Direction::kWeightGradient, input, grad_weight,
                                grad_output, &call) &&
           Steps::gradient(launch, std::move(call));
  }
};
template <class Steps, class Launch, class Shape, class Tensor>
ConvolutionFunctions<Steps, Launch, Shape, Tensor> convolution_functions(bool (*)(
    const Launch&, const Shape&, const Tensor&, const Tensor&, const Tensor&, const void*)) {
  return {};
}

}  // namespace detail

// Sets the functions for convolutions in dl-kernels' table of libraries, kernels::library. `Steps`
// has static functions that return false for calls that they do not support:
//
//   bool gradient(const kernels::Launch&, Convolution)
//   bool convolve(const kernels::Launch&, const kernels::ConvShape&, const kernels::TensorRef& out,
//                 const void* bias, Convolution)                        `bias` may be null
template <class Steps, class Table>
bool install_convolutions(Table& table) {
  using Functions = decltype(detail::convolution_functions<Steps>(table.convolve));
  table.convolve = Functions::forward;
  table.input_gradient = Functions::input_gradient;
  table.weight_gradient = Functions::weight_gradient;
  return true;
}

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_CALL_H_
