// Activation functions of the contract's own, and their gradients: what builds them from other
// operators on devices whose vendor lacks them.
#pragma once

#include <tuple>

#include "aten/composed/elementwise_forms.h"
#include "aten/plans.h"

namespace dl::core {

// How far torch lets values be drawn to 0.
inline bool is_shrinkage(c10::ScalarType type, const at::Scalar& bound) {
  return bound.toDouble() >= 0 && bound.toDouble() <= largest_of(type);
}

namespace composed {

Tensor elu(const Tensor& x, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale);
Tensor hardshrink(const Tensor& x, const Scalar& bound);
Tensor softshrink(const Tensor& x, const Scalar& bound);
Tensor shrink_backward(const Tensor& grad, const Tensor& x, const Scalar& bound);
Tensor hardsigmoid(const Tensor& x);
Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& x);
Tensor mish(const Tensor& x);
Tensor mish_backward(const Tensor& grad, const Tensor& x);
Tensor softplus(const Tensor& x, const Scalar& beta, const Scalar& threshold);
Tensor softplus_backward(const Tensor& grad, const Tensor& x, const Scalar& beta,
                         const Scalar& threshold);

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
using MishBackward = Binary<mish_backward, Promotion::same, "mish_backward">;
using Softplus = Unary<softplus, Promotion::same, "softplus">;
using SoftplusBackward =
    Binary<softplus_backward, Promotion::same, "softplus_backward", "", "grad_input">;

struct EluBackward {
  static Tensor functional(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                           const Scalar& input_scale, bool is_result, const Tensor& self_or_result);
  static Tensor& out(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                     const Scalar& input_scale, bool is_result, const Tensor& self_or_result,
                     Tensor& grad_input);
};

// The buffer is exp(-|x|), as on the CPU; the gradient makes its own.
struct LogSigmoid {
  static std::tuple<Tensor, Tensor> functional(const Tensor& self);
  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, Tensor& output, Tensor& buffer);
};
struct LogSigmoidBackward {
  static Tensor functional(const Tensor& grad_output, const Tensor& self, const Tensor& buffer);
  static Tensor& out(const Tensor& grad_output, const Tensor& self, const Tensor& buffer,
                     Tensor& grad_input);
};

}  // namespace composed

namespace plans {

bool log_sigmoid(DirectPlan& plan, const Tensor& self);

}  // namespace plans
}  // namespace dl::core
