// Conversion of dl-kernels' convolution call to the terms of dl/kit/convolution.h. The types of
// dl-kernels are template parameters, because only units that are compiled for a device include
// them.
#ifndef DL_KIT_CONVOLUTION_CALL_H_
#define DL_KIT_CONVOLUTION_CALL_H_

#include <cstdint>

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

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_CALL_H_
