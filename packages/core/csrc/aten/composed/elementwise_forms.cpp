#include "aten/composed/elementwise_forms.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

namespace dl::core::composed {

at::TensorIterator iterator_of(Tensor& out, const Tensor& self, Promotion promotion) {
  if (promotion == Promotion::floating) return at::TensorIterator::unary_float_op(out, self);
  if (promotion == Promotion::same) return at::TensorIterator::unary_op(out, self);
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true).check_all_same_dtype(false);
  config.add_owned_output(out).add_owned_const_input(self);
  if (!out.defined()) config.declare_static_dtype(at::kBool);
  return config.build();
}

at::TensorIterator iterator_of(Tensor& out, const Tensor& self, const Tensor& other,
                               Promotion promotion) {
  if (promotion == Promotion::floating)
    return at::TensorIterator::binary_float_op(out, self, other);
  if (promotion == Promotion::same) return at::TensorIterator::binary_op(out, self, other);
  return at::TensorIterator::comparison_op(out, self, other);
}

Tensor wrap_scalar(const Scalar& number) {
  const auto type = number.isFloatingPoint() ? at::kDouble
                    : number.isComplex()     ? at::kComplexDouble
                    : number.isBoolean()     ? at::kBool
                                             : at::kLong;
  Tensor result = at::scalar_tensor(number, at::device(at::kCPU).dtype(type));
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

Tensor bits_of(const Tensor& x) {
  switch (x.element_size()) {
    case 2:
      return x.view(at::kShort);
    case 4:
      return x.view(at::kInt);
    default:
      return x.view(at::kLong);
  }
}

Tensor copysign_of(const Tensor& magnitude, const Tensor& sign) {
  const Tensor positive = magnitude.abs();
  return at::where(signbit_of(sign), positive.neg(), positive);
}

// Reduces to the first octant, where the quotient is at most 1.
Tensor atan2_of(const Tensor& y, const Tensor& x) {
  constexpr double kPi = 3.14159265358979323846;
  const Tensor a = y.abs(), b = x.abs();
  const Tensor low = a.minimum(b), high = a.maximum(b);
  // The angle of two zeros is 0; two infinities have the angle of the diagonal.
  const Tensor ratio = low.div(high).masked_fill_(low.eq(high), 1).masked_fill_(high.eq(0), 0);
  Tensor angle = ratio.atan();
  angle = at::where(a.gt(b), angle.neg().add_(kPi / 2), angle);
  angle = at::where(signbit_of(x), angle.neg().add_(kPi), angle);
  return copysign_of(angle, y);
}

Tensor trunc_of(const Tensor& x) {
  return x.is_floating_point() ? at::where(x.lt(0), x.ceil(), x.floor()) : x;
}

}  // namespace dl::core::composed
