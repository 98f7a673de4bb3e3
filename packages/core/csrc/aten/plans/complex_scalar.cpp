#include "aten/plans/complex_scalar.h"

#include "aten/plans/stored_scalar.h"
#include "memory/new_tensor.h"

namespace dl::core {

at::Tensor complex_scalar_on(int device, c10::ScalarType type, const at::Scalar& value) {
  const auto number = value.toComplexDouble();
  const c10::ScalarType part = c10::toRealValueType(type);
  if (!plans::holds(part, number.real()) || !plans::holds(part, number.imag())) return {};
  return empty_on(device, {}, type).fill_(value);
}

}  // namespace dl::core
