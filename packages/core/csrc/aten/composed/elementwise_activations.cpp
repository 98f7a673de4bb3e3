// Activation functions that DIOPI lacks, and their gradients.
#include <ATen/ops/where.h>

#include "aten/plan_checks.h"
#include "aten/plans_activation_dl.h"

namespace dl::core {
namespace composed {

// scale · x from 0 on, else scale · alpha · (exp(input_scale · x) - 1).
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

// NaN is in neither range: it stays, and its gradient is 0.
Tensor hardshrink(const Tensor& x, const Scalar& bound) {
  return x.masked_fill(x.ge(-bound).logical_and_(x.le(bound)), 0);
}
Tensor shrink_backward(const Tensor& grad, const Tensor& x, const Scalar& bound) {
  return grad.masked_fill(x.lt(-bound).logical_or_(x.gt(bound)).logical_not_(), 0);
}
Tensor softshrink(const Tensor& x, const Scalar& bound) {
  TORCH_CHECK(is_shrinkage(x.scalar_type(), bound), "lambda must be in range [0, ",
              largest_of(x.scalar_type()), "] for input dtype ", x.scalar_type(), ", but found ",
              bound.toDouble());
  const Tensor inside = x.ge(-bound).logical_and_(x.le(bound));
  return at::where(x.gt(bound), x.sub(bound), x.add(bound)).masked_fill_(inside, 0);
}

Tensor hardsigmoid(const Tensor& x) { return x.add(3).clamp_(0, 6).div_(6); }
Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& x) {
  return grad.div(6).masked_fill_(x.gt(-3).logical_and_(x.lt(3)).logical_not_(), 0);
}

Tensor mish(const Tensor& x) { return x.exp().log1p_().tanh_().mul_(x); }
Tensor mish_backward(const Tensor& grad, const Tensor& x) {
  const Tensor saturation = x.exp().log1p_().tanh_();
  const Tensor slope = saturation.mul(saturation).neg_().add_(1).mul_(x.sigmoid()).mul_(x);
  return slope.add_(saturation).mul_(grad);
}

// log(1 + exp(beta · x)) / beta, linear above the threshold.
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
  // sigmoid(-x), from the exponential that cannot overflow.
  const Tensor share = at::where(x.lt(0), buffer.new_ones({}), buffer).div(buffer.add(1));
  return share.mul(grad);
}
using Output = Unary<log_sigmoid, Promotion::same, "log_sigmoid_forward", "", "output">;
using Slope = Binary<log_sigmoid_slope, Promotion::same, "log_sigmoid_backward", "", "grad_input">;

}  // namespace

std::tuple<Tensor, Tensor> LogSigmoid::functional(const Tensor& self) {
  return {Output::run({}, self), buffer_of(self)};
}
std::tuple<Tensor&, Tensor&> LogSigmoid::out(const Tensor& self, Tensor& output, Tensor& buffer) {
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

namespace {

Tensor prelu(const Tensor& x, const Tensor& weight) { return at::where(x.gt(0), x, x.mul(weight)); }
std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad_output, const Tensor& self,
                                          const Tensor& weight) {
  const Tensor positive = self.gt(0);
  return {at::where(positive, grad_output, grad_output.mul(weight)),
          self.mul(grad_output).masked_fill_(positive, 0)};
}
using Prelu = Binary<prelu, Promotion::same, "_prelu_kernel">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_prelu_kernel", Prelu::functional);
  DL_COMPOSED("_prelu_kernel_backward", prelu_backward);
}

}  // namespace composed

namespace plans {

bool log_sigmoid(DirectPlan& plan, const Tensor& self) {
  const auto format = self.suggest_memory_format();
  if (!alike(self) || !floating(self) || !self.is_contiguous(format)) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type(), format);
  plan.output(self.sizes(), self.scalar_type(), format);
  return true;
}

}  // namespace plans
}  // namespace dl::core
