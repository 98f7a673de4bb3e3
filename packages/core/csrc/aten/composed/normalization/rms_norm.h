// Gradient of RMS normalization, composed of other operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <tuple>

#include "aten/kernel/composed.h"

namespace dl::core::composed {

// The CPU has no such operator to fall back to.
struct RmsNormBackward {
  static std::tuple<at::Tensor, at::Tensor> functional(
      const at::Tensor& grad_out, const at::Tensor& input, at::IntArrayRef normalized_shape,
      const at::Tensor& rstd, const std::optional<at::Tensor>& weight, std::array<bool, 2> mask);
};

}  // namespace dl::core::composed
