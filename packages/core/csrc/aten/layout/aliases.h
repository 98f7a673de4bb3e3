// Short names for torch's types in kernels.
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
