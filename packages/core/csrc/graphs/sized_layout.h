// Memory layouts of tensors, either with concrete sizes or as expressions of symbols.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "graphs/size_expression.h"

namespace dl::core {

constexpr int64_t kAnyOffset = -1;

// The offset is in elements from the start of the storage, or kAnyOffset.
struct TensorLayout {
  c10::ScalarType type;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset;

  bool holds(const at::Tensor& tensor) const;
};

struct SizedLayout {
  c10::ScalarType type;
  std::vector<SizeExpression> sizes;
  std::vector<SizeExpression> strides;
  SizeExpression offset;

  // Evaluates the layout for these symbols; empty if a value is negative or overflows int64.
  std::optional<TensorLayout> bound(const Sizes& symbols) const;
};

}  // namespace dl::core
