// Choice of the algorithm for torch's scaled_dot_product_attention on a dl device. Sizes may be
// symbolic, because tracing makes this choice too.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/native/transformers/attention.h>

#include <array>

#include "aten/composed/sequence/attention.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/plans/checks.h"
#include "calls/call.h"

namespace dl::core::composed {
namespace {

bool mask_fits(const at::Tensor& query, const at::Tensor& key, const OptionalTensor& mask) {
  if (!mask || !mask->defined()) return true;
  const at::ScalarType type = mask->scalar_type();
  if (!plans::on_same_device(query, *mask) || mask->dim() > 4) return false;
  if (type != at::kBool && type != query.scalar_type() &&
      type != at::toOpMathType(query.scalar_type())) {
    return false;
  }
  const std::array<c10::SymInt, 4> weights = {query.sym_size(0), query.sym_size(1),
                                              query.sym_size(2), key.sym_size(2)};
  return at::is_expandable_to(mask->sym_sizes(), weights);
}

}  // namespace

namespace {

// Covers four dimensions, no dropout, a number of query heads that is a multiple of the number of
// key heads, and a mask that expands.
bool own_covers(const AttentionCall& call) {
  const auto& [query, key, value, mask, dropout, is_causal] = call;
  if (dropout != 0 || !plans::alike(query, key, value) || !plans::floating(query)) return false;
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return false;
  if (query.sym_numel() == 0 || key.sym_numel() == 0 || value.sym_numel() == 0) return false;
  const auto same = [](const at::Tensor& a, const at::Tensor& b, int64_t dim) {
    return a.sym_size(dim) == b.sym_size(dim);
  };
  return same(key, query, 0) && same(value, query, 0) && same(key, value, 1) &&
         query.sym_size(1) % key.sym_size(1) == 0 && same(key, value, 2) && same(key, query, 3) &&
         mask_fits(query, key, mask);
}

// Covers calls without a mask, with one head size, and with statistics in float32. A causal mask is
// aligned to the last key, not the first: the same thing if there are as many keys as queries.
bool flash_covers(const AttentionCall& call) {
  const auto& [query, key, value, mask, dropout, is_causal] = call;
  return own_covers(call) && !(mask && mask->defined()) && query.scalar_type() != at::kDouble &&
         value.sym_size(3) == query.sym_size(3) &&
         (!is_causal || key.sym_size(2) == query.sym_size(2));
}

}  // namespace

AttentionOperator attention_operator(const AttentionCall& call, bool has_own, bool has_flash) {
  if (has_own && own_covers(call)) return AttentionOperator::own;
  if (has_flash && flash_covers(call)) return AttentionOperator::flash;
  return AttentionOperator::none;
}

namespace {

// Returns true if the vendor has operators for the call and for its gradient.
bool is_native(const AttentionCall& call) {
  if (call.query.device().type() != kDeviceType || call.query.is_nested()) return false;
  const Device& device = device_unchecked(call.query.get_device());
  const bool own = DL_CONTRACT_FUNCTION(device, dlopAttention) != nullptr &&
                   DL_CONTRACT_FUNCTION(device, dlopAttentionBackward) != nullptr;
  const bool flash = DL_CONTRACT_FUNCTION(device, diopiFlashAttention) != nullptr &&
                     DL_CONTRACT_FUNCTION(device, diopiFlashAttentionBackward) != nullptr;
  return attention_operator(call, own, flash) != AttentionOperator::none;
}

// Torch checks sizes in the products of the composite implementation; its errors name a product.
void check_sizes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  for (const at::Tensor& x : {query, key, value}) {
    if (x.is_nested() || x.dim() < 2) return;
  }
  TORCH_CHECK(query.sym_size(-1) == key.sym_size(-1),
              "scaled_dot_product_attention: each row of query has ", query.sym_size(-1),
              " elements and each row of key ", key.sym_size(-1), "; they must be equal");
  TORCH_CHECK(key.sym_size(-2) == value.sym_size(-2), "scaled_dot_product_attention: key has ",
              key.sym_size(-2), " rows and value ", value.sym_size(-2),
              "; every row of key needs one row of value");
}

// Returns the vendor's operator, or the composite implementation if no operator covers the call or
// the user has disabled it.
int64_t fused_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const OptionalTensor& mask, double dropout, bool is_causal,
                     std::optional<double>, bool enable_gqa) {
  TORCH_CHECK(dropout >= 0 && dropout <= 1, "scaled_dot_product_attention: dropout_p is ", dropout,
              ", but a probability has to be between 0 and 1");
  check_sizes(query, key, value);
  const bool both = is_causal && mask && mask->defined();
  const bool fused = !both && at::globalContext().userEnabledOverrideableSDP() &&
                     is_native({query, key, value, mask, dropout, is_causal}) &&
                     (enable_gqa || query.sym_size(1) == key.sym_size(1));
  TORCH_CHECK(fused || at::globalContext().userEnabledMathSDP(),
              "No viable backend for scaled_dot_product_attention was found. This is likely due to "
              "turning off both the math kernel and the fused kernels: sdpa_kernel() allows "
              "neither SDPBackend.MATH nor a fused kernel that takes these arguments.");
  return static_cast<int64_t>(fused ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("_fused_sdp_choice", fused_choice); }

}  // namespace dl::core::composed

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &dl::core::composed::fused_choice)
}  // namespace at::native
