// Complex scalars. The contract's scalars are real, so a complex one becomes a tensor.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// Returns a one-element tensor of the complex dtype `type`, written on the device without
// synchronization. Returns an undefined tensor if the dtype cannot represent the value.
at::Tensor complex_scalar_on(int device, c10::ScalarType type, const at::Scalar& value);

}  // namespace dl::core
