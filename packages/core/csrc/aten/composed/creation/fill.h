// fill_ for dtypes whose scalars the contract does not have.
#pragma once

#include "aten/kernel/composed.h"

namespace dl::core::composed {

// Complex tensors are filled as pairs of real values.
struct FillComplex {
  static at::Tensor& inplace(at::Tensor& self, const at::Scalar& value);
};

}  // namespace dl::core::composed
