// fmod, and remainder with a scalar dividend.
#include <ATen/ops/remainder.h>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

// The remainder that has the sign of the dividend.
Tensor fmod(const Tensor& a, const Tensor& b) {
  if (a.is_floating_point()) return copysign_of(a.abs().remainder(b.abs()), a);
  const Tensor floored = a.remainder(b);
  const Tensor other_sign = floored.lt(0).ne(a.lt(0)).logical_and_(floored.ne(0));
  return floored.sub(b.mul(other_sign));
}

Tensor remainder_of_number(const Scalar& self, const Tensor& other) {
  return at::remainder(wrap_scalar(self), other);
}

using Fmod = Binary<fmod, Promotion::same, "fmod", "Tensor", "Tensor_out">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED_FORMS("fmod.Tensor", "fmod.Tensor_out", "fmod_.Tensor", Fmod);
  DL_COMPOSED("remainder.Scalar_Tensor", remainder_of_number);
}

}  // namespace dl::core::composed
