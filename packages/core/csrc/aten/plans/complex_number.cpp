#include "aten/plans/complex_number.h"

#include <ATen/ScalarOps.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ne.h>

#include "aten/plans/stored_number.h"
#include "memory/new_tensor.h"

namespace dl::core {

at::Tensor complex_number_on(int device, c10::ScalarType type, const at::Scalar& value) {
  const auto number = value.toComplexDouble();
  const c10::ScalarType part = c10::toRealValueType(type);
  if (!plans::holds(part, number.real()) || !plans::holds(part, number.imag())) return {};
  return empty_on(device, {}, type).fill_(value);
}

namespace plans {
namespace {

Tensor as_operand(const at::Scalar& number) {
  Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace

Tensor equal_to_number(const Tensor& self, const at::Scalar& other) {
  return other.isComplex() ? at::eq(self, as_operand(other)) : Tensor();
}

Tensor unequal_to_number(const Tensor& self, const at::Scalar& other) {
  return other.isComplex() ? at::ne(self, as_operand(other)) : Tensor();
}

}  // namespace plans
}  // namespace dl::core
