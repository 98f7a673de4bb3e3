// Antialiased resizing and its gradient: each axis is resized by a table of weighted cells.
#include <ATen/core/Tensor.h>

#include "aten/composed.h"
#include "aten/fallback_typed.h"
#include "aten/plans/checks.h"
#include "aten/plans/upsample.h"

namespace dl::core {
namespace {

template <Resampling Kind>
at::Tensor& resized_out(const char* name, const at::Tensor& self, at::IntArrayRef output_size,
                        bool align_corners, std::optional<double> scales_h,
                        std::optional<double> scales_w, at::Tensor& out) {
  if (plans::floating(self)) {
    const at::Tensor made =
        plans::resample(Kind, self, output_size, align_corners, {scales_h, scales_w});
    if (fits_result(out, made)) return write_result(made, out);
  }
  const auto op = find_operator(name, "out");
  using Signature = at::Tensor&(const at::Tensor&, at::IntArrayRef, bool, std::optional<double>,
                                std::optional<double>, at::Tensor&);
  return TypedFallback<Signature>::call(op, self, output_size, align_corners, scales_h, scales_w,
                                        out);
}

template <Resampling Kind>
at::Tensor resized(const char* name, const at::Tensor& self, at::IntArrayRef output_size,
                   bool align_corners, std::optional<double> scales_h,
                   std::optional<double> scales_w) {
  if (plans::floating(self)) {
    at::Tensor made = plans::resample(Kind, self, output_size, align_corners, {scales_h, scales_w});
    if (made.defined()) return made;
  }
  const auto op = find_operator(name, "");
  using Signature = at::Tensor(const at::Tensor&, at::IntArrayRef, bool, std::optional<double>,
                               std::optional<double>);
  return TypedFallback<Signature>::call(op, self, output_size, align_corners, scales_h, scales_w);
}

template <Resampling Kind>
at::Tensor& gradient_out(const char* name, const at::Tensor& grad_output,
                         at::IntArrayRef output_size, at::IntArrayRef input_size,
                         bool align_corners, std::optional<double> scales_h,
                         std::optional<double> scales_w, at::Tensor& grad_input) {
  const at::Tensor made = plans::resample_backward(Kind, grad_output, output_size, input_size,
                                                   align_corners, {scales_h, scales_w});
  if (fits_result(grad_input, made)) return write_result(made, grad_input);
  const auto op = find_operator(name, "grad_input");
  using Signature = at::Tensor&(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, bool,
                                std::optional<double>, std::optional<double>, at::Tensor&);
  return TypedFallback<Signature>::call(op, grad_output, output_size, input_size, align_corners,
                                        scales_h, scales_w, grad_input);
}

template <Resampling Kind>
at::Tensor gradient(const char* name, const at::Tensor& grad_output, at::IntArrayRef output_size,
                    at::IntArrayRef input_size, bool align_corners, std::optional<double> scales_h,
                    std::optional<double> scales_w) {
  at::Tensor made = plans::resample_backward(Kind, grad_output, output_size, input_size,
                                             align_corners, {scales_h, scales_w});
  if (made.defined()) return made;
  const auto op = find_operator(name, "");
  using Signature = at::Tensor(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, bool,
                               std::optional<double>, std::optional<double>);
  return TypedFallback<Signature>::call(op, grad_output, output_size, input_size, align_corners,
                                        scales_h, scales_w);
}

// The functions of one operator, which know its name.
#define DL_ANTIALIASED(operation, kind)                                                            \
  at::Tensor operation(const at::Tensor& self, at::IntArrayRef output_size, bool align_corners,    \
                       std::optional<double> scales_h, std::optional<double> scales_w) {           \
    return resized<kind>("aten::" #operation, self, output_size, align_corners, scales_h,          \
                         scales_w);                                                                \
  }                                                                                                \
  at::Tensor& operation##_out(const at::Tensor& self, at::IntArrayRef output_size,                 \
                              bool align_corners, std::optional<double> scales_h,                  \
                              std::optional<double> scales_w, at::Tensor& out) {                   \
    return resized_out<kind>("aten::" #operation, self, output_size, align_corners, scales_h,      \
                             scales_w, out);                                                       \
  }                                                                                                \
  at::Tensor operation##_backward(                                                                 \
      const at::Tensor& grad_output, at::IntArrayRef output_size, at::IntArrayRef input_size,      \
      bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {        \
    return gradient<kind>("aten::" #operation "_backward", grad_output, output_size, input_size,   \
                          align_corners, scales_h, scales_w);                                      \
  }                                                                                                \
  at::Tensor& operation##_backward_out(const at::Tensor& grad_output, at::IntArrayRef output_size, \
                                       at::IntArrayRef input_size, bool align_corners,             \
                                       std::optional<double> scales_h,                             \
                                       std::optional<double> scales_w, at::Tensor& grad_input) {   \
    return gradient_out<kind>("aten::" #operation "_backward", grad_output, output_size,           \
                              input_size, align_corners, scales_h, scales_w, grad_input);          \
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

}  // namespace dl::core
