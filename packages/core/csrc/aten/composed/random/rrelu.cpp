// Randomized leaky ReLU. Source: Xu et al., Empirical Evaluation of Rectified Activations in
// Convolutional Network (2015). `noise` saves the slope of every element for the backward pass.
#include <ATen/core/Tensor.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/where.h>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/resize_output.h"

namespace dl::core::composed {
namespace {

bool is_covered(const at::Tensor& self, const at::Tensor& noise, const at::Scalar& lower,
                const at::Scalar& upper) {
  return is_on_dl(self) && self.device() == noise.device() && self.is_floating_point() &&
         self.dtype() == noise.dtype() && self.sizes() == noise.sizes() &&
         lower.toDouble() <= upper.toDouble();
}

void draw_slopes(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                 const at::Scalar& upper, const OptionalGenerator& generator) {
  if (self.numel() == 0) return;  // torch does not check the bounds if no sample is drawn
  noise.uniform_(lower.toDouble(), upper.toDouble(), generator);
  noise.masked_fill_(at::le(self, 0).bitwise_not_(), 1);
}

at::Tensor with_mean_slope(const at::Tensor& self, const at::Scalar& lower,
                           const at::Scalar& upper) {
  const double slope = (lower.toDouble() + upper.toDouble()) / 2;
  return at::where(at::gt(self, 0), self, at::mul(self, slope));
}

at::Tensor randomize(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                     const at::Scalar& upper, bool training, OptionalGenerator generator) {
  if (!is_covered(self, noise, lower, upper)) {
    return on_cpu<"rrelu_with_noise", at::Tensor(const at::Tensor&, at::Tensor&, const at::Scalar&,
                                                 const at::Scalar&, bool, OptionalGenerator)>(
        self, noise, lower, upper, training, generator);
  }
  if (!training) return with_mean_slope(self, lower, upper);
  draw_slopes(self, noise, lower, upper, generator);
  return at::mul(self, noise);
}

at::Tensor& randomize_(at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                       const at::Scalar& upper, bool training, OptionalGenerator generator) {
  if (!is_covered(self, noise, lower, upper)) {
    return on_cpu<"rrelu_with_noise_", at::Tensor&(at::Tensor&, at::Tensor&, const at::Scalar&,
                                                   const at::Scalar&, bool, OptionalGenerator)>(
        self, noise, lower, upper, training, generator);
  }
  if (!training) return self.copy_(with_mean_slope(self, lower, upper));
  draw_slopes(self, noise, lower, upper, generator);
  return self.mul_(noise);
}

at::Tensor& randomize_out(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                          const at::Scalar& upper, bool training, OptionalGenerator generator,
                          at::Tensor& out) {
  if (!is_covered(self, noise, lower, upper) || out.dtype() != self.dtype() ||
      out.device() != self.device()) {
    return on_cpu<"rrelu_with_noise.out",
                  at::Tensor&(const at::Tensor&, at::Tensor&, const at::Scalar&, const at::Scalar&,
                              bool, OptionalGenerator, at::Tensor&)>(self, noise, lower, upper,
                                                                     training, generator, out);
  }
  at::Tensor result = randomize(self, noise, lower, upper, training, generator);
  at::native::resize_output(out, self.sizes());
  return out.copy_(result);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("rrelu_with_noise", randomize);
  DL_COMPOSED("rrelu_with_noise_", randomize_);
  DL_COMPOSED("rrelu_with_noise.out", randomize_out);
}

}  // namespace dl::core::composed
