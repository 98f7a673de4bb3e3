// fill_ with numbers that the contract has none of.
#pragma once

#include "aten/kernel/composed.h"

namespace dl::core::composed {

// Complex tensors are filled as pairs of real numbers.
struct FillComplex {
  static at::Tensor& inplace(at::Tensor& self, const at::Scalar& value);
};

}  // namespace dl::core::composed
