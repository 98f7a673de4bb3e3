// Complex numbers beside tensors. Those of the contract are real: a complex one becomes a tensor.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// One element of the complex dtype `type`, written on the device: the host waits for nothing.
// Undefined where the dtype does not hold the number.
at::Tensor complex_number_on(int device, c10::ScalarType type, const at::Scalar& value);

}  // namespace dl::core
