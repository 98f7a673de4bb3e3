// Activation functions that the contract lacks, and their gradients.
#include <ATen/ops/where.h>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

// scale · x above 0, else scale · alpha · (exp(input_scale · x) - 1).
Tensor elu(const Tensor& x, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const double below = alpha.toDouble() * scale.toDouble();
  return at::where(x.le(0), x.mul(input_scale).expm1_().mul_(below), x.mul(scale));
}
Tensor elu_slope(const Tensor& grad, const Tensor& x, double below, double above,
                 double input_scale, bool is_result) {
  const Tensor rise = is_result ? x.add(below).mul_(input_scale)
                                : x.mul(input_scale).exp_().mul_(input_scale * below);
  return at::where(x.le(0), rise.mul_(grad), grad.mul(above));
}
struct EluBackward {
  using Form = Binary<elu_slope, Promotion::same, "elu_backward", "", "grad_input">;
  static Tensor& out(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                     const Scalar& input_scale, bool is_result, const Tensor& self_or_result,
                     Tensor& grad_input) {
    run(grad_input, grad_output, alpha, scale, input_scale, is_result, self_or_result);
    return grad_input;
  }
  static Tensor functional(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                           const Scalar& input_scale, bool is_result,
                           const Tensor& self_or_result) {
    return run({}, grad_output, alpha, scale, input_scale, is_result, self_or_result);
  }

 private:
  static Tensor run(const Tensor& given, const Tensor& grad_output, const Scalar& alpha,
                    const Scalar& scale, const Scalar& input_scale, bool is_result,
                    const Tensor& self_or_result) {
    TORCH_CHECK(!is_result || alpha.toDouble() >= 0.0,
                "In-place elu backward calculation is triggered with a negative slope which is "
                "not supported. This is caused by calling in-place forward function with a "
                "negative slope, please call out-of-place version instead.");
    return Form::run(given, grad_output, self_or_result, alpha.toDouble() * scale.toDouble(),
                     scale.toDouble(), input_scale.toDouble(), is_result);
  }
};

// NaN is in neither range and stays.
Tensor inside(const Tensor& x, const Scalar& bound) {
  return x.ge(-bound).logical_and_(x.le(bound));
}
Tensor hardshrink(const Tensor& x, const Scalar& bound) {
  return x.masked_fill(inside(x, bound), 0);
}
Tensor shrink_backward(const Tensor& grad, const Tensor& x, const Scalar& bound) {
  return grad.masked_fill(inside(x, bound), 0);
}
Tensor softshrink(const Tensor& x, const Scalar& bound) {
  TORCH_CHECK(bound.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be ",
              bound.toDouble(), ".");
  return at::where(x.gt(bound), x.sub(bound), x.add(bound)).masked_fill_(inside(x, bound), 0);
}

Tensor hardsigmoid(const Tensor& x) { return x.add(3).clamp_(0, 6).div_(6); }
Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& x) {
  return grad.div(6).masked_fill_(x.le(-3).logical_or_(x.ge(3)), 0);
}

Tensor mish(const Tensor& x) { return x.exp().log1p_().tanh_().mul_(x); }
Tensor mish_backward(const Tensor& grad, const Tensor& x) {
  const Tensor saturation = x.exp().log1p_().tanh_();
  const Tensor slope = saturation.mul(saturation).neg_().add_(1).mul_(x.sigmoid()).mul_(x);
  return slope.add_(saturation).mul_(grad);
}
Tensor mish_slope(const Tensor& grad_output, const Tensor& self) {
  return Binary<mish_backward, Promotion::same, "mish_backward">::functional(grad_output, self);
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

// The buffer is exp(-|x|), as on the CPU; the gradient makes its own where it is missing.
Tensor buffer_of(const Tensor& x) { return x.abs().neg_().exp_(); }
Tensor log_sigmoid(const Tensor& x) { return x.clamp_max(0).sub_(buffer_of(x).log1p_()); }
Tensor log_sigmoid_slope(const Tensor& grad, const Tensor& x) {
  const Tensor buffer = buffer_of(x);
  // sigmoid(-x), from the exponential that cannot overflow.
  const Tensor share = at::where(x.lt(0), buffer.new_ones({}), buffer).div(buffer.add(1));
  return share.mul(grad);
}
using LogSigmoid = Unary<log_sigmoid, Promotion::same, "log_sigmoid_forward", "", "output">;
using LogSigmoidSlope =
    Binary<log_sigmoid_slope, Promotion::same, "log_sigmoid_backward", "", "grad_input">;
std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  return {LogSigmoid::run({}, self), buffer_of(self)};
}
std::tuple<Tensor&, Tensor&> log_sigmoid_forward_out(const Tensor& self, Tensor& output,
                                                     Tensor& buffer) {
  const Tensor kept = buffer_of(self);
  LogSigmoid::run(output, self);
  buffer.resize_as_(kept).copy_(kept);
  return {output, buffer};
}
Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor&) {
  return LogSigmoidSlope::run({}, grad_output, self);
}
Tensor& log_sigmoid_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor&,
                                 Tensor& grad_input) {
  LogSigmoidSlope::run(grad_input, grad_output, self);
  return grad_input;
}

Tensor prelu(const Tensor& x, const Tensor& weight) { return at::where(x.gt(0), x, x.mul(weight)); }
std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad_output, const Tensor& self,
                                          const Tensor& weight) {
  const Tensor positive = self.gt(0);
  return {at::where(positive, grad_output, grad_output.mul(weight)),
          self.mul(grad_output).masked_fill_(positive, 0)};
}

using Elu = Unary<elu, Promotion::same, "elu">;
using Hardshrink = Unary<hardshrink, Promotion::same, "hardshrink">;
using HardshrinkBackward =
    Binary<shrink_backward, Promotion::same, "hardshrink_backward", "", "grad_input">;
using Softshrink = Unary<softshrink, Promotion::same, "softshrink">;
using SoftshrinkBackward =
    Binary<shrink_backward, Promotion::same, "softshrink_backward", "", "grad_input">;
using Hardsigmoid = Unary<hardsigmoid, Promotion::same, "hardsigmoid">;
using HardsigmoidBackward =
    Binary<hardsigmoid_backward, Promotion::same, "hardsigmoid_backward", "", "grad_input">;
using Mish = Unary<mish, Promotion::same, "mish">;
using Softplus = Unary<softplus, Promotion::same, "softplus">;
using SoftplusBackward =
    Binary<softplus_backward, Promotion::same, "softplus_backward", "", "grad_input">;
using Prelu = Binary<prelu, Promotion::same, "_prelu_kernel">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("elu", Elu::functional);
  DL_COMPOSED("elu.out", Elu::out);
  DL_COMPOSED("elu_", Elu::inplace);
  DL_COMPOSED("elu_backward", EluBackward::functional);
  DL_COMPOSED("elu_backward.grad_input", EluBackward::out);
  DL_COMPOSED("hardshrink", Hardshrink::functional);
  DL_COMPOSED("hardshrink.out", Hardshrink::out);
  DL_COMPOSED("hardshrink_backward", HardshrinkBackward::functional);
  DL_COMPOSED("hardshrink_backward.grad_input", HardshrinkBackward::out);
  DL_COMPOSED("softshrink", Softshrink::functional);
  DL_COMPOSED("softshrink.out", Softshrink::out);
  DL_COMPOSED("softshrink_backward", SoftshrinkBackward::functional);
  DL_COMPOSED("softshrink_backward.grad_input", SoftshrinkBackward::out);
  DL_COMPOSED("hardsigmoid", Hardsigmoid::functional);
  DL_COMPOSED("hardsigmoid.out", Hardsigmoid::out);
  DL_COMPOSED("hardsigmoid_", Hardsigmoid::inplace);
  DL_COMPOSED("hardsigmoid_backward", HardsigmoidBackward::functional);
  DL_COMPOSED("hardsigmoid_backward.grad_input", HardsigmoidBackward::out);
  DL_COMPOSED("mish", Mish::functional);
  DL_COMPOSED("mish.out", Mish::out);
  DL_COMPOSED("mish_", Mish::inplace);
  DL_COMPOSED("mish_backward", mish_slope);
  DL_COMPOSED("softplus", Softplus::functional);
  DL_COMPOSED("softplus.out", Softplus::out);
  DL_COMPOSED("softplus_backward", SoftplusBackward::functional);
  DL_COMPOSED("softplus_backward.grad_input", SoftplusBackward::out);
  DL_COMPOSED("log_sigmoid_forward", log_sigmoid_forward);
  DL_COMPOSED("log_sigmoid_forward.output", log_sigmoid_forward_out);
  DL_COMPOSED("log_sigmoid_backward", log_sigmoid_backward);
  DL_COMPOSED("log_sigmoid_backward.grad_input", log_sigmoid_backward_out);
  DL_COMPOSED("_prelu_kernel", Prelu::functional);
  DL_COMPOSED("_prelu_kernel_backward", prelu_backward);
}

}  // namespace dl::core::composed
