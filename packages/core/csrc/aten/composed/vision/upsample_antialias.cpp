// Antialiased resizing and its gradient: each axis is resized with a table of weighted cells.
#include <ATen/core/Tensor.h>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"
#include "aten/plans/upsample.h"

namespace dl::core::composed {
namespace {

template <Resampling Kind, Text name>
at::Tensor& resize_out(const at::Tensor& self, at::IntArrayRef output_size, bool align_corners,
                       std::optional<double> scales_h, std::optional<double> scales_w,
                       at::Tensor& out) {
  if (plans::floating(self)) {
    const at::Tensor made =
        plans::resample(Kind, self, output_size, align_corners, {scales_h, scales_w});
    if (fits_result(out, made)) return write_to(out, made);
  }
  using Signature = at::Tensor&(const at::Tensor&, at::IntArrayRef, bool, std::optional<double>,
                                std::optional<double>, at::Tensor&);
  return on_cpu<overload_name(name, Text("out")), Signature>(self, output_size, align_corners,
                                                             scales_h, scales_w, out);
}

template <Resampling Kind, Text name>
at::Tensor resize_antialiased(const at::Tensor& self, at::IntArrayRef output_size,
                              bool align_corners, std::optional<double> scales_h,
                              std::optional<double> scales_w) {
  if (plans::floating(self)) {
    at::Tensor made = plans::resample(Kind, self, output_size, align_corners, {scales_h, scales_w});
    if (made.defined()) return made;
  }
  using Signature = at::Tensor(const at::Tensor&, at::IntArrayRef, bool, std::optional<double>,
                               std::optional<double>);
  return on_cpu<name, Signature>(self, output_size, align_corners, scales_h, scales_w);
}

template <Resampling Kind, Text name>
at::Tensor& gradient_out(const at::Tensor& grad_output, at::IntArrayRef output_size,
                         at::IntArrayRef input_size, bool align_corners,
                         std::optional<double> scales_h, std::optional<double> scales_w,
                         at::Tensor& grad_input) {
  const at::Tensor made = plans::resample_backward(Kind, grad_output, output_size, input_size,
                                                   align_corners, {scales_h, scales_w});
  if (fits_result(grad_input, made)) return write_to(grad_input, made);
  using Signature = at::Tensor&(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, bool,
                                std::optional<double>, std::optional<double>, at::Tensor&);
  return on_cpu<overload_name(name, Text("grad_input")), Signature>(
      grad_output, output_size, input_size, align_corners, scales_h, scales_w, grad_input);
}

template <Resampling Kind, Text name>
at::Tensor gradient(const at::Tensor& grad_output, at::IntArrayRef output_size,
                    at::IntArrayRef input_size, bool align_corners, std::optional<double> scales_h,
                    std::optional<double> scales_w) {
  at::Tensor made = plans::resample_backward(Kind, grad_output, output_size, input_size,
                                             align_corners, {scales_h, scales_w});
  if (made.defined()) return made;
  using Signature = at::Tensor(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, bool,
                               std::optional<double>, std::optional<double>);
  return on_cpu<name, Signature>(grad_output, output_size, input_size, align_corners, scales_h,
                                 scales_w);
}

// Define the functions of one operator.
#define DL_ANTIALIASED(operation, kind)                                                            \
  at::Tensor operation(const at::Tensor& self, at::IntArrayRef output_size, bool align_corners,    \
                       std::optional<double> scales_h, std::optional<double> scales_w) {           \
    return resize_antialiased<kind, #operation>(self, output_size, align_corners, scales_h,        \
                                                scales_w);                                         \
  }                                                                                                \
  at::Tensor& operation##_out(const at::Tensor& self, at::IntArrayRef output_size,                 \
                              bool align_corners, std::optional<double> scales_h,                  \
                              std::optional<double> scales_w, at::Tensor& out) {                   \
    return resize_out<kind, #operation>(self, output_size, align_corners, scales_h, scales_w,      \
                                        out);                                                      \
  }                                                                                                \
  at::Tensor operation##_backward(                                                                 \
      const at::Tensor& grad_output, at::IntArrayRef output_size, at::IntArrayRef input_size,      \
      bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {        \
    return gradient<kind, #operation "_backward">(grad_output, output_size, input_size,            \
                                                  align_corners, scales_h, scales_w);              \
  }                                                                                                \
  at::Tensor& operation##_backward_out(const at::Tensor& grad_output, at::IntArrayRef output_size, \
                                       at::IntArrayRef input_size, bool align_corners,             \
                                       std::optional<double> scales_h,                             \
                                       std::optional<double> scales_w, at::Tensor& grad_input) {   \
    return gradient_out<kind, #operation "_backward">(                                             \
        grad_output, output_size, input_size, align_corners, scales_h, scales_w, grad_input);      \
  }
DL_ANTIALIASED(_upsample_bilinear2d_aa, Resampling::aa_linear)
DL_ANTIALIASED(_upsample_bicubic2d_aa, Resampling::aa_cubic)
DL_ANTIALIASED(_upsample_lanczos2d_aa, Resampling::aa_lanczos)
#undef DL_ANTIALIASED

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_upsample_bilinear2d_aa", _upsample_bilinear2d_aa);
  DL_COMPOSED("_upsample_bilinear2d_aa.out", _upsample_bilinear2d_aa_out);
  DL_COMPOSED("_upsample_bilinear2d_aa_backward", _upsample_bilinear2d_aa_backward);
  DL_COMPOSED("_upsample_bilinear2d_aa_backward.grad_input", _upsample_bilinear2d_aa_backward_out);
  DL_COMPOSED("_upsample_bicubic2d_aa", _upsample_bicubic2d_aa);
  DL_COMPOSED("_upsample_bicubic2d_aa.out", _upsample_bicubic2d_aa_out);
  DL_COMPOSED("_upsample_bicubic2d_aa_backward", _upsample_bicubic2d_aa_backward);
  DL_COMPOSED("_upsample_bicubic2d_aa_backward.grad_input", _upsample_bicubic2d_aa_backward_out);
  DL_COMPOSED("_upsample_lanczos2d_aa", _upsample_lanczos2d_aa);
  DL_COMPOSED("_upsample_lanczos2d_aa.out", _upsample_lanczos2d_aa_out);
  DL_COMPOSED("_upsample_lanczos2d_aa_backward", _upsample_lanczos2d_aa_backward);
  DL_COMPOSED("_upsample_lanczos2d_aa_backward.grad_input", _upsample_lanczos2d_aa_backward_out);
}

}  // namespace dl::core::composed
