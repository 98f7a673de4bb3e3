// Rounding to the nearest integer, composed of other operators.
#pragma once

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {

Tensor round_to_even(const Tensor& x);

using Round = Unary<round_to_even, Promotion::same, "round">;

}  // namespace dl::core::composed
