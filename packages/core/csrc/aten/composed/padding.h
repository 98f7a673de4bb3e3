// Constant padding from other operators.
#pragma once

#include <ATen/core/Tensor.h>

#include "aten/composed.h"

namespace dl::core::composed {

// torch's own, which fills and copies: for numbers that a double does not hold.
struct ConstantPad {
  static at::Tensor functional(const at::Tensor& self, at::IntArrayRef pad,
                               const at::Scalar& value);
  static at::Tensor& out(const at::Tensor& self, at::IntArrayRef pad, const at::Scalar& value,
                         at::Tensor& out);
};

}  // namespace dl::core::composed
