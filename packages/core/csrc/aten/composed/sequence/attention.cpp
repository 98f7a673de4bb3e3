// Scaled dot-product attention: the fused kernels of the contract.
#include <ATen/ExpandUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <tuple>

#include "aten/composed/sequence/attention.h"
#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/plans/checks.h"
#include "memory/new_tensor.h"

namespace dl::core::composed {
namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;
using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Site attention_site{"_scaled_dot_product_flash_attention_for_cpu",
                    {"_scaled_dot_product_flash_attention_for_cpu"},
                    {Op::dlopAttention, Op::diopiFlashAttention}};
Site attention_backward_site{"_scaled_dot_product_flash_attention_for_cpu_backward",
                             {"_scaled_dot_product_flash_attention_for_cpu_backward"},
                             {Op::dlopAttentionBackward, Op::diopiFlashAttentionBackward}};

double scale_of(const at::Tensor& query, std::optional<double> scale) {
  return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
}

// Allocates a tensor with the dimension order of `like`, as torch's operator specifies: usually [N,
// S, H, D], the layout of the preceding projection, so that joining the heads needs no copy.
at::Tensor empty_laid_out_as(const at::Tensor& like, at::IntArrayRef sizes) {
  const bool same = sizes == like.sizes() && like.is_non_overlapping_and_dense();
  return empty_strided_on(
      like.get_device(), sizes,
      same ? like.strides().vec() : at::infer_dense_strides(sizes, like.strides()),
      like.scalar_type());
}
at::Tensor empty_laid_out_as(const at::Tensor& like) {
  return empty_laid_out_as(like, like.sizes());
}

// Views [N, H, S, D] as DIOPI's [N, S, H, D], without a copy.
at::Tensor sequence_first(const at::Tensor& heads_first) { return heads_first.transpose(1, 2); }

// Unlimited attention window.
constexpr int32_t kNoWindow = -1;

bool attend(const AttentionCall& arguments, double scale, at::Tensor& out, at::Tensor& lse) {
  const auto& [query, key, value, mask, dropout, is_causal] = arguments;
  const int index = ::dl::core::device_of(query);
  if (index < 0 || attention_site.disabled.load(std::memory_order_relaxed)) return false;
  const Device& device = device_unchecked(index);
  const auto own = DL_CONTRACT_FUNCTION(device, dlopAttention);
  const auto flash = DL_CONTRACT_FUNCTION(device, diopiFlashAttention);
  const auto chosen = attention_operator(arguments, own != nullptr, flash != nullptr);
  if (chosen == AttentionOperator::none) return false;
  out = empty_laid_out_as(query, {query.size(0), query.size(1), query.size(2), value.size(3)});
  lse = empty_on(index, {query.size(0), query.size(1), query.size(2)},
                 at::toOpMathType(query.scalar_type()));
  NativeCall call(attention_site, index);
  if (chosen == AttentionOperator::flash) {
    return call.run("diopiFlashAttention", flash, OutputHandle(sequence_first(out)).get(),
                    OutputHandle(lse).get(), nullptr, TensorHandle(sequence_first(query)).get(),
                    TensorHandle(sequence_first(key)).get(),
                    TensorHandle(sequence_first(value)).get(), nullptr, 0.0F,
                    static_cast<float>(scale), is_causal, kNoWindow, kNoWindow);
  }
  return call.run("dlopAttention", own, OutputHandle(out).get(), OutputHandle(lse).get(),
                  TensorHandle(query).get(), TensorHandle(key).get(), TensorHandle(value).get(),
                  OptionalHandle(mask).get(), scale, is_causal);
}

Pair flash_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     double dropout, bool is_causal, const OptionalTensor& mask,
                     std::optional<double> scale) {
  at::Tensor out, lse;
  if (attend({query, key, value, mask, dropout, is_causal}, scale_of(query, scale), out, lse))
    return {std::move(out), std::move(lse)};
  return on_cpu<"_scaled_dot_product_flash_attention_for_cpu",
                Pair(const at::Tensor&, const at::Tensor&, const at::Tensor&, double, bool,
                     const OptionalTensor&, std::optional<double>)>(query, key, value, dropout,
                                                                    is_causal, mask, scale);
}

bool attend_backward(const at::Tensor& grad_out, const AttentionCall& arguments,
                     const at::Tensor& out, const at::Tensor& lse, double scale, Triple& grads) {
  const auto& [query, key, value, mask, dropout, is_causal] = arguments;
  const int index = ::dl::core::device_of(query);
  if (index < 0 || attention_backward_site.disabled.load(std::memory_order_relaxed)) return false;
  const Device& device = device_unchecked(index);
  const auto own = DL_CONTRACT_FUNCTION(device, dlopAttentionBackward);
  const auto flash = DL_CONTRACT_FUNCTION(device, diopiFlashAttentionBackward);
  const auto chosen = attention_operator(arguments, own != nullptr, flash != nullptr);
  if (chosen == AttentionOperator::none) return false;
  if (!plans::alike(query, grad_out, out) || !plans::on_same_device(query, lse)) return false;
  auto& [grad_query, grad_key, grad_value] = grads;
  grad_query = empty_laid_out_as(query);
  grad_key = empty_laid_out_as(key);
  grad_value = empty_laid_out_as(value);
  NativeCall call(attention_backward_site, index);
  if (chosen == AttentionOperator::flash) {
    return call.run(
        "diopiFlashAttentionBackward", flash, OutputHandle(sequence_first(grad_query)).get(),
        OutputHandle(sequence_first(grad_key)).get(),
        OutputHandle(sequence_first(grad_value)).get(),
        TensorHandle(sequence_first(grad_out)).get(), nullptr,
        TensorHandle(sequence_first(query)).get(), TensorHandle(sequence_first(key)).get(),
        TensorHandle(sequence_first(value)).get(), nullptr, TensorHandle(sequence_first(out)).get(),
        TensorHandle(lse).get(), 0.0F, static_cast<float>(scale), is_causal, kNoWindow, kNoWindow);
  }
  return call.run("dlopAttentionBackward", own, OutputHandle(grad_query).get(),
                  OutputHandle(grad_key).get(), OutputHandle(grad_value).get(),
                  TensorHandle(grad_out).get(), TensorHandle(query).get(), TensorHandle(key).get(),
                  TensorHandle(value).get(), TensorHandle(out).get(), TensorHandle(lse).get(),
                  OptionalHandle(mask).get(), scale, is_causal);
}

Triple flash_attention_backward(const at::Tensor& grad_out, const at::Tensor& query,
                                const at::Tensor& key, const at::Tensor& value,
                                const at::Tensor& out, const at::Tensor& lse, double dropout,
                                bool is_causal, const OptionalTensor& mask,
                                std::optional<double> scale) {
  Triple grads;
  if (attend_backward(grad_out, {query, key, value, mask, dropout, is_causal}, out, lse,
                      scale_of(query, scale), grads))
    return grads;
  return on_cpu<"_scaled_dot_product_flash_attention_for_cpu_backward",
                Triple(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                       const at::Tensor&, const at::Tensor&, double, bool, const OptionalTensor&,
                       std::optional<double>)>(grad_out, query, key, value, out, lse, dropout,
                                               is_causal, mask, scale);
}

using Overrideable = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt,
                                c10::SymInt, at::Tensor, at::Tensor, at::Tensor>;

Overrideable overrideable(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const OptionalTensor& bias, double dropout, bool is_causal, bool,
                          std::optional<double> scale) {
  auto [out, lse] = flash_attention(query, key, value, dropout, is_causal, bias, scale);
  // Seed and offset are unused without dropout; zeros keep the results of two calls equal.
  const at::Tensor unused = at::zeros({}, at::TensorOptions().dtype(at::kLong));
  return {std::move(out),
          std::move(lse),
          at::Tensor(),
          at::Tensor(),
          c10::SymInt(query.size(2)),
          c10::SymInt(key.size(2)),
          unused,
          unused,
          at::Tensor()};
}

at::Tensor repeat_heads(const at::Tensor& tensor, int64_t heads) {
  if (tensor.size(1) == heads) return tensor;
  return tensor.unsqueeze(2)
      .expand(
          {tensor.size(0), tensor.size(1), heads / tensor.size(1), tensor.size(2), tensor.size(3)})
      .reshape({tensor.size(0), heads, tensor.size(2), tensor.size(3)});
}

// The gradient of the bias is as large as the scores, so it is computed only if the bias needs it.
at::Tensor bias_gradient(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
                         const at::Tensor& value, const at::Tensor& bias, const at::Tensor& out,
                         const at::Tensor& lse, bool is_causal, double scale) {
  // Half precision is rounded only once, at the end: exponentials would amplify rounding errors of
  // the scores.
  const auto wide = lse.scalar_type();
  const at::Tensor keys = repeat_heads(key.to(wide), query.size(1)).transpose(-2, -1);
  const at::Tensor values = repeat_heads(value.to(wide), query.size(1)).transpose(-2, -1);
  const at::Tensor scores = at::matmul(query.to(wide), keys) * scale + bias.to(wide);
  at::Tensor weights = at::exp(scores - lse.unsqueeze(-1));
  if (is_causal) weights = weights.tril();
  const at::Tensor incoming = grad_out.to(wide);
  const at::Tensor delta = (incoming * out.to(wide)).sum(-1, true);
  const at::Tensor grad = weights * (at::matmul(incoming, values) - delta);
  return at::sum_to(grad, bias.sizes()).to(bias.scalar_type());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> overrideable_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& bias, std::array<bool, 4> wanted,
    const at::Tensor& out, const at::Tensor& lse, const at::Tensor&, const at::Tensor&, int64_t,
    int64_t, double dropout, bool is_causal, const at::Tensor&, const at::Tensor&,
    std::optional<double> scale) {
  if (!grad_out.defined()) return {};
  at::Tensor grad_query, grad_key, grad_value, grad_bias;
  if (wanted[0] || wanted[1] || wanted[2]) {
    const OptionalTensor mask = bias.defined() ? OptionalTensor(bias) : std::nullopt;
    std::tie(grad_query, grad_key, grad_value) = flash_attention_backward(
        grad_out, query, key, value, out, lse, dropout, is_causal, mask, scale);
  }
  if (wanted[3] && bias.defined()) {
    grad_bias = bias_gradient(grad_out, query, key, value, bias, out, lse, is_causal,
                              scale_of(query, scale));
  }
  return {std::move(grad_query), std::move(grad_key), std::move(grad_value), std::move(grad_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("_scaled_dot_product_flash_attention_for_cpu", flash_attention);
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward",
               TORCH_FN(flash_attention_backward));
  DL_COMPOSED("_scaled_dot_product_fused_attention_overrideable", overrideable);
  DL_COMPOSED("_scaled_dot_product_fused_attention_overrideable_backward", overrideable_backward);
}

}  // namespace dl::core::composed
