// Which of a vendor's operators takes a call of attention.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace dl::core {

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
  own,    // dlopAttention: masks of every shape, heads of values of another size
  flash,  // diopiFlashAttention, which libraries of DIOPI have
};

// The first of those that the vendor has which covers the call.
AttentionOperator attention_operator(const AttentionCall& call, bool has_own, bool has_flash);

}  // namespace dl::core
