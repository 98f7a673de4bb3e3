// Installs cuDNN in dl-kernels' table for convolution libraries. Compiled by nvcc, like the
// kernels.
#include "dl_kernels/library.h"

#include <utility>

#include "dl/kit/convolution_call.h"
#include "library/convolution.h"

namespace dl::cuda {
namespace {

using kernels::ConvShape;
using kernels::Launch;
using kernels::TensorRef;
using kit::is_dense;

// Sets every element to the bias of its channel. The elements of a channel are in runs of `run`
// elements.
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

struct Steps {
  static bool gradient(const Launch&, Convolution call) {
    return convolve_with_library(std::move(call));
  }

  static bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
                       const void* bias, Convolution call) {
    if (bias != nullptr) {
      // cuDNN rounds half precision results before it adds the existing value.
      if (dl_dtype_bytes(out.dtype) == 2) return false;
      const bool by_channel = is_dense(call.output, call.dimensions(), false);
      if (!by_channel && !is_dense(call.output, call.dimensions(), true)) return false;
      const int64_t run = by_channel ? shape.output_plane() : 1;
      // The result is added to the bias and rounded once.
      call.prepare = [=, &launch, &shape, &out] {
        if (dl_dtype_bytes(out.dtype) == 4)
          return fill<uint32_t>(launch, out, bias, run, shape.filters);
        return fill<uint64_t>(launch, out, bias, run, shape.filters);
      };
    }
    return convolve_with_library(std::move(call));
  }
};

// Initialized when this library is loaded; the first convolution opens cuDNN.
const bool installed = kit::install_convolutions<Steps>(kernels::library);

}  // namespace
}  // namespace dl::cuda
