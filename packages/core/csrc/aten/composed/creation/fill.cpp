#include "aten/composed/creation/fill.h"

#include <ATen/ops/view_as_real.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::composed {
namespace {

Tensor& fill_from(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value);
}

// Returns true if fill_ can write the real and the imaginary parts separately: the view neither
// repeats nor changes elements, and the dtype can represent both values. Otherwise torch's kernel
// raises the error.
bool fills_in_parts(const Tensor& self, const c10::complex<double>& number) {
  if (!self.is_complex() || !is_on_dl(self) || self.is_conj() || self.is_neg() ||
      overlap::repeats(self))
    return false;
  const auto type = c10::toRealValueType(self.scalar_type());
  return plans::holds(type, number.real()) && plans::holds(type, number.imag());
}

}  // namespace

Tensor& FillComplex::inplace(Tensor& self, const Scalar& value) {
  const auto number = value.toComplexDouble();
  if (!fills_in_parts(self, number))
    return on_cpu<"fill_.Scalar", Tensor&(Tensor&, const Scalar&)>(self, value);
  const Tensor pairs = at::view_as_real(self);
  pairs.select(-1, 0).fill_(number.real());
  pairs.select(-1, 1).fill_(number.imag());
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("fill_.Tensor", fill_from); }

}  // namespace dl::core::composed
