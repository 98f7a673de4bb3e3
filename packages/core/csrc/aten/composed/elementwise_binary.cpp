// Elementwise binary functions that the contract lacks: hypot, fmod, copysign and their kin.
#include <ATen/ops/div.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include <limits>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

constexpr double kLog2 = 0.69314718055994530942;

// Neither overflows where the result does not.
Tensor hypot(const Tensor& x, const Tensor& y) {
  TORCH_CHECK_NOT_IMPLEMENTED(x.is_floating_point(), "\"hypot\" not implemented for '",
                              x.scalar_type(), "'");
  const Tensor a = x.abs(), b = y.abs();
  const Tensor low = a.minimum(b), high = a.maximum(b);
  const Tensor ratio = low.div(high).masked_fill_(low.eq(high), 1);
  const Tensor length = ratio.mul(ratio).add_(1.0).sqrt_().mul_(high);
  return length.masked_fill_(a.eq(kInfinity).logical_or(b.eq(kInfinity)), kInfinity);
}

// The distance of the operands, 0 where they are the same infinity.
Tensor distance(const Tensor& a, const Tensor& b) {
  return a.sub(b).abs_().masked_fill_(a.eq(b), 0);
}
Tensor logaddexp(const Tensor& a, const Tensor& b) {
  return distance(a, b).neg_().exp_().log1p_().add_(a.maximum(b));
}
Tensor logaddexp2(const Tensor& a, const Tensor& b) {
  return distance(a, b).mul_(-kLog2).exp_().log1p_().div_(kLog2).add_(a.maximum(b));
}

// Of a number and NaN, the number.
Tensor fmax(const Tensor& a, const Tensor& b) {
  if (!a.is_floating_point()) return a.maximum(b);
  return at::where(a.ne(a), b, a).maximum(at::where(b.ne(b), a, b));
}
Tensor fmin(const Tensor& a, const Tensor& b) {
  if (!a.is_floating_point()) return a.minimum(b);
  return at::where(a.ne(a), b, a).minimum(at::where(b.ne(b), a, b));
}

// The remainder of the sign of the dividend.
Tensor fmod(const Tensor& a, const Tensor& b) {
  if (a.is_floating_point()) return copysign_of(a.abs().remainder(b.abs()), a);
  const Tensor floored = a.remainder(b);
  const Tensor other_sign = floored.lt(0).ne(a.lt(0)).logical_and_(floored.ne(0));
  return floored.sub(b.mul(other_sign));
}

Tensor xlogy(const Tensor& x, const Tensor& y) {
  return x.mul(y.log()).masked_fill_(x.eq(0).logical_and(y.eq(y)), 0);
}
Tensor heaviside(const Tensor& x, const Tensor& values) {
  return at::where(x.eq(0), values, x.gt(0).to(x.scalar_type()));
}
Tensor logical_xor(const Tensor& a, const Tensor& b) { return a.ne(0).ne(b.ne(0)); }

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(other, self, alpha);
}

Tensor pow_of_number(const Scalar& self, const Tensor& exponent) {
  // In the memory order that torch gives, whatever that of the exponents.
  return at::pow(wrapped(self), exponent).contiguous();
}
Tensor& pow_of_number_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  return at::pow_out(out, wrapped(self), exponent);
}
Tensor remainder_of_number(const Scalar& self, const Tensor& other) {
  return at::remainder(wrapped(self), other);
}

using Copysign = Binary<copysign_of, Promotion::floating, "copysign", "Tensor">;
using Hypot = Binary<hypot, Promotion::same, "hypot">;
using Logaddexp = Binary<logaddexp, Promotion::same, "logaddexp">;
using Logaddexp2 = Binary<logaddexp2, Promotion::same, "logaddexp2">;
using Fmax = Binary<fmax, Promotion::same, "fmax">;
using Fmin = Binary<fmin, Promotion::same, "fmin">;
using Fmod = Binary<fmod, Promotion::same, "fmod", "Tensor", "Tensor_out">;
using Xlogy = Binary<xlogy, Promotion::floating, "xlogy", "Tensor", "OutTensor">;
using Heaviside = Binary<heaviside, Promotion::same, "heaviside">;
using LogicalXor = Binary<logical_xor, Promotion::comparison, "logical_xor">;

// Torch promotes for all but this one.
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
  DL_COMPOSED("copysign.Tensor", Copysign::functional);
  DL_COMPOSED("copysign.out", Copysign::out);
  DL_COMPOSED("copysign_.Tensor", Copysign::inplace);
  DL_COMPOSED("hypot", Hypot::functional);
  DL_COMPOSED("hypot.out", Hypot::out);
  DL_COMPOSED("hypot_", Hypot::inplace);
  DL_COMPOSED("logaddexp", Logaddexp::functional);
  DL_COMPOSED("logaddexp.out", Logaddexp::out);
  DL_COMPOSED("logaddexp2", Logaddexp2::functional);
  DL_COMPOSED("logaddexp2.out", Logaddexp2::out);
  DL_COMPOSED("fmax", Fmax::functional);
  DL_COMPOSED("fmax.out", Fmax::out);
  DL_COMPOSED("fmin", Fmin::functional);
  DL_COMPOSED("fmin.out", Fmin::out);
  DL_COMPOSED("fmod.Tensor", Fmod::functional);
  DL_COMPOSED("fmod.Tensor_out", Fmod::out);
  DL_COMPOSED("fmod_.Tensor", Fmod::inplace);
  DL_COMPOSED("xlogy.Tensor", Xlogy::functional);
  DL_COMPOSED("xlogy.OutTensor", Xlogy::out);
  DL_COMPOSED("xlogy_.Tensor", Xlogy::inplace);
  DL_COMPOSED("heaviside", heaviside_of);
  DL_COMPOSED("heaviside.out", heaviside_out);
  DL_COMPOSED("heaviside_", heaviside_inplace);
  DL_COMPOSED("logical_xor", LogicalXor::functional);
  DL_COMPOSED("logical_xor.out", LogicalXor::out);
  DL_COMPOSED("logical_xor_", LogicalXor::inplace);
  DL_COMPOSED("rsub.Tensor", rsub);
  DL_COMPOSED("pow.Scalar", pow_of_number);
  DL_COMPOSED("pow.Scalar_out", pow_of_number_out);
  DL_COMPOSED("remainder.Scalar_Tensor", remainder_of_number);
}

}  // namespace dl::core::composed
