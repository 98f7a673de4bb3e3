// Convolution, its input gradient and its weight gradient for tensors of any strides: by the
// vendor's library if it supports the call, otherwise by the kernels here. A transposed convolution
// and its gradients are the same three operations with the roles exchanged.
#ifndef DL_KERNELS_CONV_CONV_CALLS_H_
#define DL_KERNELS_CONV_CONV_CALLS_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/conv/convolve.h"
#include "dl_kernels/library.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

namespace detail {

template <class... Tensors>
bool of_dtype(diopiDtype_t dtype, const Tensors&... tensors) {
  return ((tensors.numel > 0 && tensors.dtype == dtype) && ...);
}

#if DL_KERNELS_GPU
// Call f(images of each tensor) if some are not contiguous, but all have regular strides.
template <class T, class F>
bool of_images(int dims, const TensorRef& to, const TensorRef& a, const TensorRef& b, const F& f) {
  if (to.contiguous && a.contiguous && b.contiguous) return false;
  if (!of_dtype(dtype_of<T>(), to, a, b)) return false;
  gpu::Images<T> out;
  gpu::Images<const T> left, right;
  return gpu::read_images(to, dims, &out) && gpu::read_images(a, dims, &left) &&
         gpu::read_images(b, dims, &right) && f(out, left, right);
}
#endif

template <class T>
struct ChannelSum {
  using C = compute_t<T>;
  C* sums;
  const T* from;
  int64_t samples, channels, plane;

  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    double total = 0;
    for (int64_t s = 0; s < samples; ++s) {
      const T* line = from + (s * channels + c) * plane;
      total +=
          static_cast<double>(block.sum(plane, [line](int64_t i) { return cast<C>(line[i]); }));
    }
    sums[c] = static_cast<C>(total);
  }
};

}  // namespace detail

// out = weight * input + bias; `bias` may be null.
inline diopiError_t conv_forward(diopiContextHandle_t ctx, const char* op, const ConvShape& shape,
                                 diopiTensorHandle_t out, const TensorRef& input,
                                 const TensorRef& weight, diopiConstTensorHandle_t bias) {
  const Launch launch(ctx);
  const TensorRef o = ref(out), b = bias == nullptr ? TensorRef{} : ref(bias);
  if (library.convolve != nullptr && detail::of_dtype(o.dtype, o, input, weight) &&
      (bias == nullptr || (b.dtype == o.dtype && b.contiguous)) &&
      library.convolve(launch, shape, o, input, weight, b.data))
    return diopiSuccess;
  return dispatch<kFloats>(o.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
#if DL_KERNELS_GPU
    if ((bias == nullptr || (b.dtype == o.dtype && b.contiguous)) &&
        detail::of_images<T>(
            shape.dims, o, input, weight, [&](const auto& to, const auto& from, const auto& taps) {
              return gpu::convolve_images<T>(launch, shape, to, from, taps, b.as<const T>());
            }))
      return diopiSuccess;
#endif
    const DenseOutput<T> to(ctx, op, out);
    const DenseInput<T> from(ctx, op, input), taps(ctx, op, weight), shift(ctx, op, bias);
    DL_TRY(first_status(to, from, taps, shift));
    convolve<T>(launch, shape, to.data(), from.data(), taps.data(), shift.data());
    return to.finish();
  });
}

inline diopiError_t conv_input_gradient(diopiContextHandle_t ctx, const char* op,
                                        const ConvShape& shape, diopiTensorHandle_t grad_input,
                                        const TensorRef& grad_output, const TensorRef& weight) {
  const Launch launch(ctx);
  const TensorRef gi = ref(grad_input);
  if (library.input_gradient != nullptr && detail::of_dtype(gi.dtype, gi, grad_output, weight) &&
      library.input_gradient(launch, shape, gi, grad_output, weight))
    return diopiSuccess;
  return dispatch<kFloats>(grad_output.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
#if DL_KERNELS_GPU
    if (detail::of_images<T>(shape.dims, gi, grad_output, weight,
                             [&](const auto& to, const auto& from, const auto& taps) {
                               return gpu::convolve_images_input_gradient<T>(launch, shape, to,
                                                                             from, taps);
                             }))
      return diopiSuccess;
#endif
    const DenseOutput<T> to(ctx, op, grad_input);
    const DenseInput<T> from(ctx, op, grad_output), taps(ctx, op, weight);
    DL_TRY(first_status(to, from, taps));
    convolve_input_gradient<T>(launch, shape, to.data(), from.data(), taps.data());
    return to.finish();
  });
}

// The same before rounding to half precision: `out` is a contiguous tensor of the compute type.
template <class T>
diopiError_t conv_input_sums(diopiContextHandle_t ctx, const char* op, const ConvShape& shape,
                             const TensorRef& sums, const TensorRef& grad_output,
                             const TensorRef& weight) {
  const Launch launch(ctx);
  if (library.input_gradient != nullptr && detail::of_dtype(dtype_of<T>(), grad_output, weight) &&
      library.input_gradient(launch, shape, sums, grad_output, weight))
    return diopiSuccess;
  const DenseInput<T> from(ctx, op, grad_output), taps(ctx, op, weight);
  DL_TRY(first_status(from, taps));
  convolve_input_gradient<T>(launch, shape, sums.as<compute_t<T>>(), from.data(), taps.data());
  return diopiSuccess;
}

// Sum the gradient over all samples and positions; the tensor has samples × channels × plane
// elements.
inline diopiError_t conv_bias_gradient(diopiContextHandle_t ctx, const char* op,
                                       diopiTensorHandle_t grad_bias, const TensorRef& grad_output,
                                       int64_t samples, int64_t channels, int64_t plane) {
  return dispatch<kFloats>(grad_output.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    const DenseOutput<C> to(ctx, op, grad_bias);
    const DenseInput<T> from(ctx, op, grad_output);
    DL_TRY(first_status(to, from));
    rows(Launch(ctx), channels, samples * plane,
         detail::ChannelSum<T>{to.data(), from.data(), samples, channels, plane});
    return to.finish();
  });
}

// `grad_bias` may be null; it is computed in the same call if the library supports that.
inline diopiError_t conv_weight_gradient(diopiContextHandle_t ctx, const char* op,
                                         const ConvShape& shape, diopiTensorHandle_t grad_weight,
                                         diopiTensorHandle_t grad_bias,
                                         const TensorRef& grad_output, const TensorRef& input) {
  const Launch launch(ctx);
  const TensorRef gw = ref(grad_weight), gb = grad_bias == nullptr ? TensorRef{} : ref(grad_bias);
  if (library.weight_gradient != nullptr && detail::of_dtype(gw.dtype, gw, grad_output, input)) {
    const auto by_library = [&](void* of_bias) {
      return library.weight_gradient(launch, shape, gw, of_bias, grad_output, input);
    };
    if ((grad_bias == nullptr || (gb.dtype == gw.dtype && gb.contiguous)) && by_library(gb.data))
      return diopiSuccess;
    // The library may decline only because of the bias.
    if (grad_bias != nullptr && by_library(nullptr))
      return conv_bias_gradient(ctx, op, grad_bias, grad_output, shape.samples, shape.filters,
                                shape.output_plane());
  }
  DL_TRY(dispatch<kFloats>(grad_output.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
#if DL_KERNELS_GPU
    if (detail::of_images<T>(shape.dims, gw, grad_output, input,
                             [&](const auto& to, const auto& grad, const auto& from) {
                               return gpu::convolve_images_weight_gradient<T>(launch, shape, to,
                                                                              grad, from);
                             }))
      return diopiSuccess;
#endif
    const DenseOutput<T> to(ctx, op, grad_weight);
    const DenseInput<T> grad(ctx, op, grad_output), from(ctx, op, input);
    DL_TRY(first_status(to, grad, from));
    convolve_weight_gradient<T>(launch, shape, to.data(), grad.data(), from.data());
    return to.finish();
  }));
  if (grad_bias == nullptr) return diopiSuccess;
  return conv_bias_gradient(ctx, op, grad_bias, grad_output, shape.samples, shape.filters,
                            shape.output_plane());
}

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_CONV_CALLS_H_
