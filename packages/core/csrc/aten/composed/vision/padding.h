// Constant padding, composed of other operators.
#pragma once

#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"

namespace dl::core::composed {

// torch's own implementation (fill and copy), for values that double cannot represent.
struct ConstantPad {
  static at::Tensor functional(const at::Tensor& self, at::IntArrayRef pad,
                               const at::Scalar& value);
  static at::Tensor& out(const at::Tensor& self, at::IntArrayRef pad, const at::Scalar& value,
                         at::Tensor& out);
};

}  // namespace dl::core::composed
