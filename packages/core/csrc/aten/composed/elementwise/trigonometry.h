// atan2, composed of other operators.
#pragma once

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {

using Atan2 = Binary<atan2_of, Promotion::floating, "atan2">;

}  // namespace dl::core::composed
