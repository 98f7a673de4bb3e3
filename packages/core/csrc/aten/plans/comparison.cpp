#include "aten/plans/comparison.h"

#include <ATen/ScalarOps.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ne.h>

namespace dl::core::plans {
namespace {

Tensor as_operand(const at::Scalar& number) {
  Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace

Tensor equal_to_scalar(const Tensor& self, const at::Scalar& other) {
  return other.isComplex() ? at::eq(self, as_operand(other)) : Tensor();
}

Tensor unequal_to_scalar(const Tensor& self, const at::Scalar& other) {
  return other.isComplex() ? at::ne(self, as_operand(other)) : Tensor();
}

}  // namespace dl::core::plans
