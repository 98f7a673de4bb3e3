// GPU convolution without a library. Its kernels are compiled once for all families, in
// parts/convolve.inc.
#ifndef DL_KERNELS_GPU_CONVOLVE_H_
#define DL_KERNELS_GPU_CONVOLVE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

// Kernels of any size are supported.
inline bool convolution_fits(const ConvShape&) { return true; }

// Images and weights are contiguous.
template <class T>
void convolve(const Launch& launch, const ConvShape& shape, T* out, const T* in, const T* weight,
              const T* bias);

// O is T or its compute type.
template <class T, class O>
void convolve_input_gradient(const Launch& launch, const ConvShape& shape, O* grad_input,
                             const T* grad_output, const T* weight);

template <class T>
void convolve_weight_gradient(const Launch& launch, const ConvShape& shape, T* grad_weight,
                              const T* grad_output, const T* in);

namespace gpu {

// Strides of images; `cell` is the stride between cells in row-major order. A weight is treated as
// a tensor of images whose samples are the filters.
struct ImageSteps {
  int64_t sample, channel, cell;
};

template <class T>
struct Images {
  T* data;
  ImageSteps step;
};

// Describe a tensor as images if its strides allow it: channels and cells may be in any order.
template <class T>
bool read_images(const TensorRef& tensor, int dims, Images<T>* images) {
  const int64_t c = tensor.ndim - dims - 1;
  ImageSteps step{c == 1 ? tensor.strides[0] : 0, tensor.strides[c], 0};
  int64_t next = 0;
  for (int64_t d = tensor.ndim - 1; d > c; --d) {
    if (tensor.sizes[d] == 1) continue;
    if (step.cell == 0) {
      step.cell = tensor.strides[d];
    } else if (tensor.strides[d] != next) {
      return false;
    }
    next = tensor.strides[d] * tensor.sizes[d];
  }
  if (next == 0) step.cell = 1;
  *images = {tensor.as<T>(), step};
  return step.cell > 0 && step.channel > 0 && step.sample >= 0;
}

// The same three operations for images that are not row-major, such as channels-last. Return false,
// with nothing done, if only contiguous images are supported.
template <class T>
bool convolve_images(const Launch& launch, const ConvShape& shape, const Images<T>& out,
                     const Images<const T>& in, const Images<const T>& weight, const T* bias);
template <class T>
bool convolve_images_input_gradient(const Launch& launch, const ConvShape& shape,
                                    const Images<T>& grad_input, const Images<const T>& grad_output,
                                    const Images<const T>& weight);
template <class T>
bool convolve_images_weight_gradient(const Launch& launch, const ConvShape& shape,
                                     const Images<T>& grad_weight,
                                     const Images<const T>& grad_output, const Images<const T>& in);

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CONVOLVE_H_
