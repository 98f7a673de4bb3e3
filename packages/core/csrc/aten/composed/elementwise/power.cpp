// Powers of a number.
#include <ATen/ops/pow.h>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

Tensor pow_of_number(const Scalar& self, const Tensor& exponent) {
  // In the memory order that torch gives, whatever that of the exponents.
  return at::pow(wrapped(self), exponent).contiguous();
}
Tensor& pow_of_number_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  return at::pow_out(out, wrapped(self), exponent);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("pow.Scalar", pow_of_number);
  DL_COMPOSED("pow.Scalar_out", pow_of_number_out);
}

}  // namespace dl::core::composed
