// Powers with a scalar base, and ldexp.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/ldexp_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/pow.h>

#include "aten/composed/elementwise_forms.h"

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

// self · 2^other: torch's composite implementation, which takes booleans that the CPU kernel
// rejects.
Tensor ldexp(const Tensor& self, const Tensor& other) {
  check_exponents(self, other);
  return at::compositeexplicitautograd::ldexp(self, other);
}
Tensor& ldexp_out(const Tensor& self, const Tensor& other, Tensor& out) {
  check_exponents(self, other);
  return at::compositeexplicitautograd::ldexp_out(out, self, other);
}
Tensor& ldexp_inplace(Tensor& self, const Tensor& other) {
  check_exponents(self, other);
  // The composite implementation would resize `self`.
  const auto sizes = at::infer_size(self.sizes(), other.sizes());
  TORCH_CHECK(self.sizes() == at::IntArrayRef(sizes), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", at::IntArrayRef(sizes));
  return at::compositeexplicitautograd::ldexp_(self, other);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("pow.Scalar", pow_scalar);
  DL_COMPOSED("pow.Scalar_out", pow_scalar_out);
  DL_COMPOSED("ldexp.Tensor", ldexp);
  DL_COMPOSED("ldexp.out", ldexp_out);
  DL_COMPOSED("ldexp_", ldexp_inplace);
}

}  // namespace dl::core::composed
