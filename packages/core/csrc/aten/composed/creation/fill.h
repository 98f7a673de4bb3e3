// fill_ for dtypes that the contract's scalars cannot represent.
#pragma once

#include "aten/kernel/composed.h"

namespace dl::core::composed {

// Complex tensors are filled as pairs of real values.
struct FillComplex {
  static at::Tensor& inplace(at::Tensor& self, const at::Scalar& value);
};

}  // namespace dl::core::composed
