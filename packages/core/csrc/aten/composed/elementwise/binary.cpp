// Elementwise binary functions that the contract does not have: hypot, logaddexp, copysign, ...
#include <ATen/ops/div.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include <limits>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

constexpr double kLog2 = 0.69314718055994530942;

// Scaled so that no intermediate value overflows unless the result does.
Tensor hypot(const Tensor& x, const Tensor& y) {
  check_floating("hypot", x.scalar_type());
  const Tensor a = x.abs(), b = y.abs();
  const Tensor low = a.minimum(b), high = a.maximum(b);
  const Tensor ratio = low.div(high).masked_fill_(low.eq(high), 1);
  const Tensor length = ratio.mul(ratio).add_(1.0).sqrt_().mul_(high);
  return length.masked_fill_(a.eq(kInfinity).logical_or(b.eq(kInfinity)), kInfinity);
}

// |a - b|; 0 if both are the same infinity.
Tensor distance(const Tensor& a, const Tensor& b) {
  return a.sub(b).abs_().masked_fill_(a.eq(b), 0);
}
Tensor logaddexp(const Tensor& a, const Tensor& b) {
  check_floating("logaddexp_cpu", a.scalar_type());
  return distance(a, b).neg_().exp_().log1p_().add_(a.maximum(b));
}
Tensor logaddexp2(const Tensor& a, const Tensor& b) {
  check_floating("logaddexp2_cpu", a.scalar_type());
  return distance(a, b).mul_(-kLog2).exp_().log1p_().div_(kLog2).add_(a.maximum(b));
}

// The larger operand; if one of the operands is NaN, the other operand.
Tensor fmax(const Tensor& a, const Tensor& b) {
  if (!a.is_floating_point()) return a.maximum(b);
  return at::where(a.ne(a), b, a).maximum(at::where(b.ne(b), a, b));
}
Tensor fmin(const Tensor& a, const Tensor& b) {
  if (!a.is_floating_point()) return a.minimum(b);
  return at::where(a.ne(a), b, a).minimum(at::where(b.ne(b), a, b));
}

Tensor xlogy(const Tensor& x, const Tensor& y) {
  return x.mul(y.log()).masked_fill_(x.eq(0).logical_and(y.eq(y)), 0);
}
Tensor heaviside(const Tensor& x, const Tensor& values) {
  return at::where(x.eq(0), values, x.gt(0).to(x.scalar_type()));
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(other, self, alpha);
}

using Copysign = Binary<copysign_of, Promotion::floating, "copysign", "Tensor">;
using Hypot = Binary<hypot, Promotion::same, "hypot">;
using Logaddexp = Binary<logaddexp, Promotion::same, "logaddexp">;
using Logaddexp2 = Binary<logaddexp2, Promotion::same, "logaddexp2">;
using Fmax = Binary<fmax, Promotion::same, "fmax">;
using Fmin = Binary<fmin, Promotion::same, "fmin">;
using Xlogy = Binary<xlogy, Promotion::floating, "xlogy", "Tensor", "OutTensor">;
using Heaviside = Binary<heaviside, Promotion::same, "heaviside">;

// torch does not promote the operands of heaviside.
void check_heaviside(const Tensor& self, const Tensor& values) {
  TORCH_CHECK(!self.is_complex() && !values.is_complex(),
              "heaviside is not yet implemented for complex tensors.");
  TORCH_CHECK(self.dtype() == values.dtype(),
              "heaviside is not yet implemented for tensors with different dtypes.");
}
Tensor heaviside_of(const Tensor& self, const Tensor& values) {
  check_heaviside(self, values);
  return Heaviside::functional(self, values);
}
Tensor& heaviside_out(const Tensor& self, const Tensor& values, Tensor& out) {
  check_heaviside(self, values);
  TORCH_CHECK(out.dtype() == self.dtype(),
              "heaviside is not yet implemented for tensors with different dtypes.");
  return Heaviside::out(self, values, out);
}
Tensor& heaviside_inplace(Tensor& self, const Tensor& values) {
  check_heaviside(self, values);
  return Heaviside::inplace(self, values);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED_FORMS("copysign.Tensor", "copysign.out", "copysign_.Tensor", Copysign);
  DL_COMPOSED_FORMS("hypot", "hypot.out", "hypot_", Hypot);
  DL_COMPOSED_OUT("logaddexp", "logaddexp.out", Logaddexp);
  DL_COMPOSED_OUT("logaddexp2", "logaddexp2.out", Logaddexp2);
  DL_COMPOSED_OUT("fmax", "fmax.out", Fmax);
  DL_COMPOSED_OUT("fmin", "fmin.out", Fmin);
  DL_COMPOSED_FORMS("xlogy.Tensor", "xlogy.OutTensor", "xlogy_.Tensor", Xlogy);
  DL_COMPOSED("heaviside", heaviside_of);
  DL_COMPOSED("heaviside.out", heaviside_out);
  DL_COMPOSED("heaviside_", heaviside_inplace);
  DL_COMPOSED("rsub.Tensor", rsub);
}

}  // namespace dl::core::composed
