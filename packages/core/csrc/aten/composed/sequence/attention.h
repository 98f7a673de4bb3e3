// Choice of the vendor operator for an attention call.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace dl::core::composed {

struct AttentionCall {
  const at::Tensor& query;
  const at::Tensor& key;
  const at::Tensor& value;
  const std::optional<at::Tensor>& mask;
  double dropout;
  bool is_causal;
};

enum class AttentionOperator {
  none,
  own,    // dlopAttention: masks of every shape, value heads of a different size
  flash,  // diopiFlashAttention, which DIOPI libraries have
};

// Returns the first of these operators that the vendor has and that covers the call.
AttentionOperator attention_operator(const AttentionCall& call, bool has_own, bool has_flash);

}  // namespace dl::core::composed
