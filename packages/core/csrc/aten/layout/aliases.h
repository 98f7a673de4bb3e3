// The names that kernels have for torch's types.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace dl::core {

using at::Scalar;
using at::Tensor;
using OptionalGenerator = std::optional<at::Generator>;
using OptionalTensor = std::optional<at::Tensor>;
using OptionalType = std::optional<at::ScalarType>;

}  // namespace dl::core
