// Dropout with the dl generator; torch's CPU kernel would use the CPU generator.
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

#include "aten/composed/elementwise_forms.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

// Source: Srivastava et al., Dropout (JMLR 2014), with inverted scaling as torch defines it.
std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train) {
  if (input.numel() == 0 || (train && !*train)) {
    return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  }
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 1)
    return {at::zeros_like(input), at::zeros_like(input, input.options().dtype(at::kBool))};
  at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p);
  at::Tensor output = at::mul(input, mask).mul_(1.0 / (1.0 - p));
  return {std::move(output), std::move(mask)};
}

at::Tensor native_dropout_backward(const at::Tensor& grad, const at::Tensor& mask, double scale) {
  at::Tensor kept = at::mul(grad, mask);
  // Integers are promoted to the default floating-point dtype, as on the CPU. The scale is applied
  // in double: mul_.Scalar would round it to a half-precision dtype, which may make it infinite.
  const bool keeps_dtype = kept.is_floating_point() || kept.is_complex();
  return keeps_dtype ? kept.mul_(wrap_scalar(scale)) : kept.mul(wrap_scalar(scale));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("native_dropout", native_dropout);
  DL_COMPOSED("native_dropout_backward", native_dropout_backward);
}

}  // namespace dl::core::composed
