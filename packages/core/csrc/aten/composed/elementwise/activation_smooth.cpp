// Smooth activations that DIOPI does not have, and their gradients.
#include "aten/composed/elementwise/activation_smooth.h"

#include <ATen/ops/where.h>

namespace dl::core::composed {

// scale · x for x >= 0, otherwise scale · alpha · (exp(input_scale · x) - 1).
Tensor elu(const Tensor& x, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const double below = alpha.toDouble() * scale.toDouble();
  return at::where(x.lt(0), x.mul(input_scale).expm1_().mul_(below), x.mul(scale));
}

namespace {

Tensor elu_slope(const Tensor& grad, const Tensor& x, double below, double above,
                 double input_scale, bool is_result) {
  const Tensor rise = is_result ? x.add(below).mul_(input_scale)
                                : x.mul(input_scale).exp_().mul_(input_scale * below);
  return at::where(x.gt(0), grad.mul(above), rise.mul_(grad));
}
Tensor run_elu_slope(const Tensor& given, const Tensor& grad_output, const Scalar& alpha,
                     const Scalar& scale, const Scalar& input_scale, bool is_result,
                     const Tensor& self_or_result) {
  TORCH_CHECK(!is_result || alpha.toDouble() >= 0.0,
              "In-place elu backward calculation is triggered with a negative slope which is "
              "not supported. This is caused by calling in-place forward function with a "
              "negative slope, please call out-of-place version instead.");
  return Binary<elu_slope, Promotion::same, "elu_backward", "", "grad_input">::run(
      given, grad_output, self_or_result, alpha.toDouble() * scale.toDouble(), scale.toDouble(),
      input_scale.toDouble(), is_result);
}

}  // namespace

Tensor EluBackward::functional(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                               const Scalar& input_scale, bool is_result,
                               const Tensor& self_or_result) {
  return run_elu_slope({}, grad_output, alpha, scale, input_scale, is_result, self_or_result);
}
Tensor& EluBackward::out(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                         const Scalar& input_scale, bool is_result, const Tensor& self_or_result,
                         Tensor& grad_input) {
  run_elu_slope(grad_input, grad_output, alpha, scale, input_scale, is_result, self_or_result);
  return grad_input;
}

Tensor mish(const Tensor& x) { return x.exp().log1p_().tanh_().mul_(x); }
Tensor mish_backward(const Tensor& grad, const Tensor& x) {
  const Tensor saturation = x.exp().log1p_().tanh_();
  const Tensor slope = saturation.mul(saturation).neg_().add_(1).mul_(x.sigmoid()).mul_(x);
  return slope.add_(saturation).mul_(grad);
}

// log(1 + exp(beta · x)) / beta; above the threshold, x itself.
Tensor softplus(const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  const Tensor scaled = x.mul(beta);
  return at::where(scaled.gt(threshold), x, scaled.exp().log1p_().div_(beta));
}
Tensor softplus_backward(const Tensor& grad, const Tensor& x, const Scalar& beta,
                         const Scalar& threshold) {
  const Tensor scaled = x.mul(beta);
  return at::where(scaled.gt(threshold), grad, scaled.sigmoid().mul_(grad));
}

namespace {

Tensor buffer_of(const Tensor& x) { return x.abs().neg_().exp_(); }
Tensor log_sigmoid(const Tensor& x) { return x.clamp_max(0).sub_(buffer_of(x).log1p_()); }
Tensor log_sigmoid_slope(const Tensor& grad, const Tensor& x) {
  const Tensor buffer = buffer_of(x);
  // sigmoid(-x), computed from exp(-|x|), which cannot overflow.
  const Tensor share = at::where(x.lt(0), buffer.new_ones({}), buffer).div(buffer.add(1));
  return share.mul(grad);
}
using Output = Unary<log_sigmoid, Promotion::same, "log_sigmoid_forward", "", "output">;
using Slope = Binary<log_sigmoid_slope, Promotion::same, "log_sigmoid_backward", "", "grad_input">;

}  // namespace

std::tuple<Tensor, Tensor> LogSigmoid::functional(const Tensor& self) {
  check_floating("log_sigmoid_cpu", self.scalar_type());
  return {Output::run({}, self), buffer_of(self)};
}
std::tuple<Tensor&, Tensor&> LogSigmoid::out(const Tensor& self, Tensor& output, Tensor& buffer) {
  check_floating("log_sigmoid_cpu", self.scalar_type());
  const Tensor kept = buffer_of(self);
  Output::run(output, self);
  buffer.resize_as_(kept).copy_(kept);
  return {output, buffer};
}
Tensor LogSigmoidBackward::functional(const Tensor& grad_output, const Tensor& self,
                                      const Tensor&) {
  return Slope::run({}, grad_output, self);
}
Tensor& LogSigmoidBackward::out(const Tensor& grad_output, const Tensor& self, const Tensor&,
                                Tensor& grad_input) {
  Slope::run(grad_input, grad_output, self);
  return grad_input;
}

}  // namespace dl::core::composed
