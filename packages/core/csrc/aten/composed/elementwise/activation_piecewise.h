// Piecewise linear activations composed of other operators, and their gradients.
#pragma once

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {

Tensor hardshrink(const Tensor& x, const Scalar& bound);
Tensor softshrink(const Tensor& x, const Scalar& bound);
Tensor shrink_backward(const Tensor& grad, const Tensor& x, const Scalar& bound);
Tensor hardsigmoid(const Tensor& x);
Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& x);

// The bound is converted to the tensor's dtype.
struct Hardshrink {
  using OfBound = Unary<hardshrink, Promotion::same, "hardshrink">;
  static Tensor functional(const Tensor& self, const Scalar& bound);
  static Tensor& out(const Tensor& self, const Scalar& bound, Tensor& out);
};
using HardshrinkBackward =
    Binary<shrink_backward, Promotion::same, "hardshrink_backward", "", "grad_input">;
using Softshrink = Unary<softshrink, Promotion::same, "softshrink">;
using SoftshrinkBackward =
    Binary<shrink_backward, Promotion::same, "softshrink_backward", "", "grad_input">;
using Hardsigmoid = Unary<hardsigmoid, Promotion::same, "hardsigmoid">;
using HardsigmoidBackward =
    Binary<hardsigmoid_backward, Promotion::same, "hardsigmoid_backward", "", "grad_input">;

}  // namespace dl::core::composed
