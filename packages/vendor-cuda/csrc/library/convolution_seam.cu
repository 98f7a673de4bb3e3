// The seam of dl-kernels for libraries that convolve, filled: in a unit of nvcc's, as the kernels
// are.
#include "dl_kernels/library.h"

#include <utility>

#include "library/convolution.h"

namespace dl::cuda {
namespace {

using kernels::ConvShape;
using kernels::Launch;
using kernels::TensorRef;

// The sample dimension is always there.
Images images_of(const TensorRef& tensor, int axes) {
  Images images{static_cast<int>(tensor.dtype), tensor.data, {1}, {1}};
  const int64_t missing = axes + 2 - tensor.ndim;
  for (int64_t d = 0; d < tensor.ndim; ++d) {
    images.sizes[missing + d] = tensor.sizes[d];
    images.strides[missing + d] = tensor.strides[d];
  }
  return images;
}

// False: windows end before the image does, which no padding says.
bool describe(const Launch& launch, const ConvShape& shape, Direction direction,
              const TensorRef& input, const TensorRef& weight, const TensorRef& output,
              Convolution* call) {
  call->direction = direction;
  call->axes = shape.dims;
  call->input = images_of(input, shape.dims);
  call->weight = images_of(weight, shape.dims);
  call->output = images_of(output, shape.dims);
  for (int i = 0; i < shape.dims; ++i) {
    const kernels::Axis& axis = shape.axes[3 - shape.dims + i];
    // The most behind the image with which there are no more windows than there should be: a
    // transposed convolution may have fewer than its padding has room for.
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

// Every element becomes the bias of its channel. Elements of a channel lie in runs of `run`.
template <class Bits>
struct BiasItem {
  Bits* to;
  const Bits* bias;
  int64_t run, channels;

  DL_FN void operator()(int64_t i) const { to[i] = bias[i / run % channels]; }
};

template <class Bits>
void fill(const Launch& launch, const TensorRef& out, const void* bias, int64_t run,
          int64_t channels) {
  kernels::each(launch, out.numel, 1,
                BiasItem<Bits>{out.as<Bits>(), static_cast<const Bits*>(bias), run, channels});
}

bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
              const TensorRef& input, const TensorRef& weight, const void* bias) {
  Convolution call;
  if (!describe(launch, shape, Direction::kForward, input, weight, out, &call)) return false;
  if (bias != nullptr) {
    const bool by_channel = lies_densely(call.output, call.dimensions(), false);
    if (!by_channel && !lies_densely(call.output, call.dimensions(), true)) return false;
    const int64_t run = by_channel ? shape.output_plane() : 1;
    // The result is added to the bias, and rounded once.
    call.prepare = [=, &launch, &shape, &out] {
      switch (dl_dtype_bytes(out.dtype)) {
        case 2:
          return fill<uint16_t>(launch, out, bias, run, shape.filters);
        case 4:
          return fill<uint32_t>(launch, out, bias, run, shape.filters);
        default:
          return fill<uint64_t>(launch, out, bias, run, shape.filters);
      }
    };
  }
  return convolve_by_library(std::move(call));
}

bool input_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_input,
                    const TensorRef& grad_output, const TensorRef& weight) {
  Convolution call;
  return describe(launch, shape, Direction::kInputGradient, grad_input, weight, grad_output,
                  &call) &&
         convolve_by_library(std::move(call));
}

bool weight_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_weight,
                     void* grad_bias, const TensorRef& grad_output, const TensorRef& input) {
  Convolution call;
  return grad_bias == nullptr &&
         describe(launch, shape, Direction::kWeightGradient, input, grad_weight, grad_output,
                  &call) &&
         convolve_by_library(std::move(call));
}

// While this library is loaded; cuDNN is opened by the first convolution.
const bool installed = [] {
  kernels::library.convolve = convolve;
  kernels::library.input_gradient = input_gradient;
  kernels::library.weight_gradient = weight_gradient;
  return true;
}();

}  // namespace
}  // namespace dl::cuda
