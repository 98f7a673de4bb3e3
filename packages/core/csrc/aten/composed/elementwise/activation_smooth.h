// Smooth activations composed of other operators, and their gradients.
#pragma once

#include <tuple>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {

Tensor elu(const Tensor& x, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale);
Tensor mish(const Tensor& x);
Tensor mish_backward(const Tensor& grad, const Tensor& x);
Tensor softplus(const Tensor& x, const Scalar& beta, const Scalar& threshold);
Tensor softplus_backward(const Tensor& grad, const Tensor& x, const Scalar& beta,
                         const Scalar& threshold);

using Elu = Unary<elu, Promotion::same, "elu">;
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
// The buffer is exp(-|x|), as on the CPU; our backward pass ignores it.
struct LogSigmoid {
  static std::tuple<Tensor, Tensor> functional(const Tensor& self);
  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, Tensor& output, Tensor& buffer);
};
struct LogSigmoidBackward {
  static Tensor functional(const Tensor& grad_output, const Tensor& self, const Tensor& buffer);
  static Tensor& out(const Tensor& grad_output, const Tensor& self, const Tensor& buffer,
                     Tensor& grad_input);
};

}  // namespace dl::core::composed
