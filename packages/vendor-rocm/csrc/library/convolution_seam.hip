// Installs MIOpen in dl-kernels' table for convolution libraries. Compiled by hipcc, like the
// kernels.
#include <functional>
#include <utility>
#include <vector>

#include "dl/kit/convolution_call.h"
#include "dl_kernels/library.h"
#include "library/convolution.h"

namespace dl::rocm {
namespace {

using kernels::ConvShape;
using kernels::Launch;
using kernels::TensorRef;
using kit::Convolution;
using kit::Images;

// One element of a dense copy; `order` lists its dimensions, innermost first.
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

// Makes the inputs dense in the layout of the result if necessary: copies them to scratch memory
// once the library has accepted the call. Returns false if the result does not have a dense layout
// that the library supports.
bool match_layouts(const Launch& launch, Convolution* call) {
  if (!has_convolution_library()) return false;
  const int dimensions = call->dimensions();
  Images* const tensors[] = {&call->input, &call->weight, &call->output};
  const Images* const result = &call->result();
  const bool by_channel = kit::is_dense(*result, dimensions, false);
  bool channels_last = kit::is_dense(*result, dimensions, true);
  if (!by_channel && !channels_last) return false;
  if (by_channel && channels_last) {  // follows the other tensors
    channels_last = false;
    for (const Images* images : tensors)
      channels_last = channels_last || !kit::is_dense(*images, dimensions, false);
  }
  std::vector<std::function<void()>> packs;
  for (Images* images : tensors) {
    if (kit::is_dense(*images, dimensions, channels_last)) continue;
    int64_t count = 1;
    for (int d = 0; d < dimensions; ++d) count *= images->sizes[d];
    const int64_t bytes = dl_dtype_bytes(static_cast<diopiDtype_t>(images->dtype));
    void* const to = launch.scratch()->take(count * bytes);
    packs.emplace_back([&launch, from = *images, dimensions, channels_last, to, count, bytes] {
      const auto by = bytes == 2 ? &pack<uint16_t> : bytes == 4 ? &pack<uint32_t> : &pack<uint64_t>;
      by(launch, from, dimensions, channels_last, to, count);
    });
    images->data = to;
    kit::set_dense_strides(images, dimensions, channels_last);
  }
  if (packs.empty()) return true;
  call->prepare = [packs = std::move(packs)] {
    for (const auto& one : packs) one();
  };
  return true;
}

// Adds the bias of its channel to every element. The elements of a channel are in runs of `run`
// elements.
template <class T>
struct BiasItem {
  T* to;
  const T* bias;
  int64_t run, channels;

  DL_FN void operator()(int64_t i) const { to[i] += bias[i / run % channels]; }
};

template <class T>
void add_bias(const Launch& launch, const TensorRef& out, const void* bias, int64_t run,
              int64_t channels) {
  kernels::each(launch, out.numel, 1,
                BiasItem<T>{out.as<T>(), static_cast<const T*>(bias), run, channels});
}

struct Steps {
  static bool gradient(const Launch& launch, Convolution call) {
    return match_layouts(launch, &call) && convolve_with_library(std::move(call));
  }

  static bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
                       const void* bias, Convolution call) {
    // MIOpen does not add a bias, and a half precision result would be rounded before and after
    // adding it.
    if (bias != nullptr && dl_dtype_bytes(out.dtype) == 2) return false;
    if (!match_layouts(launch, &call)) return false;
    const bool by_channel = kit::is_dense(call.output, call.dimensions(), false);
    const int64_t run = by_channel ? shape.output_plane() : 1;
    if (!convolve_with_library(std::move(call))) return false;
    if (bias != nullptr) {
      const auto add = out.dtype == diopi_dtype_float32 ? &add_bias<float> : &add_bias<double>;
      add(launch, out, bias, run, shape.filters);
    }
    return true;
  }
};

// Initialized when this library is loaded; the first convolution opens MIOpen.
const bool installed = kit::install_convolutions<Steps>(kernels::library);

}  // namespace
}  // namespace dl::rocm
