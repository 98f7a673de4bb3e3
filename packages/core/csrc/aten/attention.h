// Which calls of attention the contract's operator covers.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace dl::core {

// Four dimensions, no dropout, heads of keys that divide those of queries, a mask that expands.
bool attention_covered(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const std::optional<at::Tensor>& mask, double dropout);

}  // namespace dl::core
