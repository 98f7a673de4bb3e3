// Comparisons with complex scalars, which the contract's functions do not support.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Returns an undefined tensor for a real scalar.
Tensor equal_to_scalar(const Tensor& self, const at::Scalar& other);
Tensor unequal_to_scalar(const Tensor& self, const at::Scalar& other);

}  // namespace dl::core::plans
