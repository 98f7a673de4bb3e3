// Piecewise linear activations that DIOPI does not have, and their gradients.
#include "aten/composed/elementwise/activation_piecewise.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>

#include "aten/plans/conditions.h"

namespace dl::core::composed {

// NaN is outside both ranges, so it is returned unchanged and its gradient is 0.
Tensor Hardshrink::functional(const Tensor& self, const Scalar& bound) {
  const auto type = self.scalar_type();
  if (!conditions::is_in_range(type, bound))
    return on_cpu<"hardshrink", decltype(functional)>(self, bound);
  return OfBound::functional(self, is_half(type) ? round_scalar(bound, type).fval : bound);
}
Tensor& Hardshrink::out(const Tensor& self, const Scalar& bound, Tensor& out) {
  const auto type = self.scalar_type();
  if (!conditions::is_in_range(type, bound))
    return on_cpu<"hardshrink.out", Tensor&(const Tensor&, const Scalar&, Tensor&)>(self, bound,
                                                                                    out);
  return OfBound::out(self, is_half(type) ? round_scalar(bound, type).fval : bound, out);
}

Tensor hardshrink(const Tensor& x, const Scalar& bound) {
  return x.masked_fill(x.ge(-bound).logical_and_(x.le(bound)), 0);
}
Tensor shrink_backward(const Tensor& grad, const Tensor& x, const Scalar& bound) {
  return grad.masked_fill(x.lt(-bound).logical_or_(x.gt(bound)).logical_not_(), 0);
}
Tensor softshrink(const Tensor& x, const Scalar& bound) {
  TORCH_CHECK(conditions::shrinkage_fits(x, bound), "lambda must be in range [0, ",
              largest_of(x.scalar_type()), "] for input dtype ", x.scalar_type(), ", but found ",
              bound.toDouble());
  const Tensor inside = x.ge(-bound).logical_and_(x.le(bound));
  return at::where(x.gt(bound), x.sub(bound), x.add(bound)).masked_fill_(inside, 0);
}

Tensor hardsigmoid(const Tensor& x) { return x.add(3).clamp_(0, 6).div_(6); }
Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& x) {
  return grad.div(6).masked_fill_(x.gt(-3).logical_and_(x.lt(3)).logical_not_(), 0);
}

namespace {

Tensor prelu(const Tensor& x, const Tensor& weight) { return at::where(x.gt(0), x, x.mul(weight)); }
using Prelu = Binary<prelu, Promotion::same, "_prelu_kernel">;
// Torch allocates the result with empty_like, which differs from what where derives if it is empty.
Tensor prelu_kernel(const Tensor& x, const Tensor& weight) {
  return x.numel() == 0 ? at::empty_like(x) : Prelu::functional(x, weight);
}
std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad_output, const Tensor& self,
                                          const Tensor& weight) {
  const Tensor positive = self.gt(0);
  return {at::where(positive, grad_output, grad_output.mul(weight)),
          self.mul(grad_output).masked_fill_(positive, 0)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_prelu_kernel", prelu_kernel);
  DL_COMPOSED("_prelu_kernel_backward", prelu_backward);
}

}  // namespace dl::core::composed
