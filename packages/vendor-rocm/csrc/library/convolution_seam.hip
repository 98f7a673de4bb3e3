// The seam of dl-kernels for libraries that convolve, filled: in a unit of hipcc's, as the kernels
// are.
#include <functional>
#include <utility>
#include <vector>

#include "dl/kit/convolution_call.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/library.h"
#include "library/convolution.h"

namespace dl::rocm {
namespace {

using kernels::ConvShape;
using kernels::Launch;
using kernels::TensorRef;
using kit::Convolution;
using kit::describe_convolution;
using kit::Direction;
using kit::Images;

// An element of a dense copy, whose dimensions are those of `order` from the innermost one.
template <class Bits>
struct PackItem {
  Bits* to;
  const Bits* from;
  int dimensions;
  int order[5];
  int64_t sizes[5], strides[5];

  DL_FN void operator()(int64_t i) const {
    int64_t at = 0, left = i;
    for (int n = 0; n < dimensions; ++n) {
      const int d = order[n];
      at += left % sizes[d] * strides[d];
      left /= sizes[d];
    }
    to[i] = from[at];
  }
};

template <class Bits>
void pack(const Launch& launch, const Images& from, int dimensions, bool channels_last, void* to,
          int64_t count) {
  PackItem<Bits> item{
      static_cast<Bits*>(to), static_cast<const Bits*>(from.data), dimensions, {}, {}, {}};
  const auto order = kit::dense_order(dimensions, channels_last);
  for (int d = 0; d < dimensions; ++d) {
    item.order[d] = order[d];
    item.sizes[d] = from.sizes[d];
    item.strides[d] = from.strides[d];
  }
  kernels::each(launch, count, 1, item);
}

// What is read becomes dense in the order of the result, where it is not: in scratch memory, once
// the library takes the call. False: the result is dense in no order that the library knows.
bool lie_alike(const Launch& launch, Convolution* call) {
  if (!convolves_by_library()) return false;
  const int dimensions = call->dimensions();
  Images* const tensors[] = {&call->input, &call->weight, &call->output};
  const Images* const result = &call->result();
  const bool by_channel = kit::lies_densely(*result, dimensions, false);
  bool channels_last = kit::lies_densely(*result, dimensions, true);
  if (!by_channel && !channels_last) return false;
  if (by_channel && channels_last) {  // as the others
    channels_last = false;
    for (const Images* images : tensors)
      channels_last = channels_last || !kit::lies_densely(*images, dimensions, false);
  }
  std::vector<std::function<void()>> packs;
  for (Images* images : tensors) {
    if (kit::lies_densely(*images, dimensions, channels_last)) continue;
    int64_t count = 1;
    for (int d = 0; d < dimensions; ++d) count *= images->sizes[d];
    const int64_t bytes = dl_dtype_bytes(static_cast<diopiDtype_t>(images->dtype));
    void* const to = launch.scratch()->take(count * bytes);
    packs.emplace_back([&launch, from = *images, dimensions, channels_last, to, count, bytes] {
      const auto by = bytes == 2 ? &pack<uint16_t> : bytes == 4 ? &pack<uint32_t> : &pack<uint64_t>;
      by(launch, from, dimensions, channels_last, to, count);
    });
    images->data = to;
    kit::lay_densely(images, dimensions, channels_last);
  }
  if (packs.empty()) return true;
  call->prepare = [packs = std::move(packs)] {
    for (const auto& one : packs) one();
  };
  return true;
}

// Every element gets the bias of its channel added. Elements of a channel lie in runs of `run`.
template <class T>
struct BiasItem {
  T* to;
  const T* bias;
  int64_t run, channels;

  DL_FN void operator()(int64_t i) const {
    using C = kernels::compute_t<T>;
    to[i] = kernels::cast<T>(kernels::cast<C>(to[i]) + kernels::cast<C>(bias[i / run % channels]));
  }
};

bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
              const TensorRef& input, const TensorRef& weight, const void* bias) {
  Convolution call;
  if (!describe_convolution(launch, shape, Direction::kForward, input, weight, out, &call) ||
      !lie_alike(launch, &call))
    return false;
  const bool by_channel = kit::lies_densely(call.output, call.dimensions(), false);
  const int64_t run = by_channel ? shape.output_plane() : 1;
  if (!convolve_by_library(std::move(call))) return false;
  if (bias == nullptr) return true;
  return kernels::dispatch<kernels::kFloats>(out.dtype, [&](auto tag) {
           using T = typename decltype(tag)::type;
           kernels::each(launch, out.numel, 1,
                         BiasItem<T>{out.as<T>(), static_cast<const T*>(bias), run, shape.filters});
           return diopiSuccess;
         }) == diopiSuccess;
}

bool input_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_input,
                    const TensorRef& grad_output, const TensorRef& weight) {
  Convolution call;
  return describe_convolution(launch, shape, Direction::kInputGradient, grad_input, weight,
                              grad_output, &call) &&
         lie_alike(launch, &call) && convolve_by_library(std::move(call));
}

bool weight_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_weight,
                     void* grad_bias, const TensorRef& grad_output, const TensorRef& input) {
  Convolution call;
  return grad_bias == nullptr &&
         describe_convolution(launch, shape, Direction::kWeightGradient, input, grad_weight,
                              grad_output, &call) &&
         lie_alike(launch, &call) && convolve_by_library(std::move(call));
}

// While this library is loaded; MIOpen is opened by the first convolution.
const bool installed = [] {
  kernels::library.convolve = convolve;
  kernels::library.input_gradient = input_gradient;
  kernels::library.weight_gradient = weight_gradient;
  return true;
}();

}  // namespace
}  // namespace dl::rocm
