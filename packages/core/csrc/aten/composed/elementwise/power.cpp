// Powers with a scalar base, and ldexp.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/ldexp_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/pow.h>
#include <c10/core/DefaultDtype.h>

#include "aten/composed/elementwise_forms.h"
#include "aten/kernel/autograd.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

void check_exponents(const Tensor& self, const Tensor& other) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_floating_point() || other.scalar_type() != at::kBool,
                              "\"ldexp_cpu_exp\" not implemented for 'Bool'");
}

Tensor pow_scalar(const Scalar& self, const Tensor& exponent) {
  // Torch returns a contiguous result, whatever the memory order of the exponents.
  return at::pow(wrap_scalar(self), exponent).contiguous();
}
Tensor& pow_scalar_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  return at::pow_out(out, wrap_scalar(self), exponent);
}

// 2^exponent as double; exact for 64-bit integers from -1022 to 1023.
Tensor power_of_two(const Tensor& exponent) {
  return exponent.add(1023).mul_(int64_t{1} << 52).view(at::kDouble);
}

// self · 2^exponent, rounded once. Uses operators that autograd records.
Tensor scale(const Tensor& self, const Tensor& exponent) {
  const Tensor wide = self.to(at::kDouble);
  if (self.scalar_type() != at::kDouble) {
    // Double represents all products; larger exponents overflow or underflow in narrower dtypes.
    const Tensor factor = power_of_two(exponent.to(at::kLong).clamp(-1000, 1000));
    return wide.mul(factor).to(self.scalar_type());
  }
  // Powers of two outside the range of double are split. A product that is subnormal before the
  // last step would be rounded twice, unless the other factors are below 2^-53 and make it 0.
  Tensor rest = exponent.to(at::kLong).clamp(-2200, 2200), product = wide;
  for (int step = 0; step < 3; ++step) {
    const Tensor part = rest.clamp_max(1023).masked_fill_(rest.lt(-1022), -1022 + 53);
    product = product.mul(power_of_two(part));
    rest = rest.sub(part);
  }
  return product;
}

// Returns true for operands that torch's CPU kernel passes to C's ldexp; for all other operands,
// the kernel multiplies by pow(2, other).
bool is_scaled(const Tensor& self, const Tensor& other) {
  return !self.is_complex() && at::isIntegralType(other.scalar_type(), /*includeBool=*/false);
}

// Returns `tensor`, moved to the device of `other` if it is a host scalar.
Tensor next_to(const Tensor& tensor, const Tensor& other) {
  return tensor.dim() == 0 && tensor.device().is_cpu() ? tensor.to(other.device()) : tensor;
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  check_exponents(self, other);
  const Tensor value = next_to(self, other), exponent = next_to(other, self);
  if (!is_scaled(self, other)) return at::compositeexplicitautograd::ldexp(value, exponent);
  return scale(self.is_floating_point() ? value : value.to(c10::get_default_dtype_as_scalartype()),
               exponent);
}
Tensor& ldexp_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (is_scaled(self, other)) return write_to(out, composed::ldexp(self, other));
  check_exponents(self, other);
  return at::compositeexplicitautograd::ldexp_out(out, next_to(self, other), next_to(other, self));
}
Tensor& ldexp_inplace(Tensor& self, const Tensor& other) {
  check_exponents(self, other);
  // The composite implementation would resize `self`.
  const auto sizes = at::infer_size(self.sizes(), other.sizes());
  TORCH_CHECK(self.sizes() == at::IntArrayRef(sizes), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", at::IntArrayRef(sizes));
  if (self.is_floating_point() && is_scaled(self, other))
    return self.copy_(scale(self, next_to(other, self)));
  return at::compositeexplicitautograd::ldexp_(self, next_to(other, self));
}

// torch's derivative, grad · pow(2, other) in integers, is 0 for negative exponents.
Tensor ldexp_recorded(c10::DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  if (is_recorded(self) && is_scaled(self, other)) return composed::ldexp(self, other);
  return call_torch_autograd<"ldexp.Tensor">(keys, self, other);
}
Tensor& ldexp_inplace_recorded(c10::DispatchKeySet keys, Tensor& self, const Tensor& other) {
  if (is_recorded(self) && is_scaled(self, other)) return self.copy_(composed::ldexp(self, other));
  call_torch_autograd<"ldexp_">(keys, self, other);
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("pow.Scalar", pow_scalar);
  DL_COMPOSED("pow.Scalar_out", pow_scalar_out);
  DL_COMPOSED("ldexp.Tensor", ldexp);
  DL_COMPOSED("ldexp.out", ldexp_out);
  DL_COMPOSED("ldexp_", ldexp_inplace);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  library.impl("ldexp.Tensor", TORCH_FN(ldexp_recorded));
  library.impl("ldexp_", TORCH_FN(ldexp_inplace_recorded));
}

}  // namespace dl::core::composed
