// Fused layers of torch's transformer modules, for inference. Under CUDA autocast torch does not
// use these layers, so that autocast applies to their parts. torch does not check for dl's
// autocast; the kernels here call the parts instead.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_masked_softmax.h>
#include <ATen/ops/_native_multi_head_attention.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/_transform_bias_rescale_qkv.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/relu.h>
#include <c10/util/irange.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "aten/composed/sequence/nested_rows.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

using OptionalInt = std::optional<int64_t>;

// torch's mask types; for each of them, true excludes an element.
constexpr int64_t kSourceMask = 0, kPaddingMask = 1, kFullMask = 2;

Tensor shaped_mask(const Tensor& scores, const Tensor& mask, OptionalInt kind) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "_masked_softmax: the mask should be a boolean tensor, but it has type ",
              mask.scalar_type());
  if (kind == kSourceMask) {
    TORCH_CHECK(mask.dim() == 2 && mask.size(0) == scores.size(2) && mask.size(1) == scores.size(3),
                "_masked_softmax: mask_type 0 needs a mask of ", scores.size(2), " by ",
                scores.size(3), ", but it has shape ", mask.sizes());
    return mask;
  }
  if (kind == kPaddingMask) {
    TORCH_CHECK(mask.dim() == 2 && mask.size(0) == scores.size(0) && mask.size(1) == scores.size(3),
                "_masked_softmax: mask_type 1 needs a mask of ", scores.size(0), " by ",
                scores.size(3), ", but it has shape ", mask.sizes());
    return mask.view({mask.size(0), 1, 1, mask.size(1)});
  }
  TORCH_CHECK(!kind || kind == kFullMask, "_masked_softmax: mask_type should be 0, 1 or 2, got ",
              *kind);
  TORCH_CHECK(mask.sizes() == scores.sizes(), "_masked_softmax: the mask has shape ", mask.sizes(),
              " and the input ", scores.sizes(), "; they should be equal");
  return mask;
}

int64_t last_unless_given(const Tensor& tensor, OptionalInt dim) {
  return dim ? *dim : tensor.dim() - 1;
}

Tensor masked_softmax(const Tensor& self, const Tensor& mask, OptionalInt dim, OptionalInt kind) {
  const Tensor hidden =
      self.masked_fill(shaped_mask(self, mask, kind), -std::numeric_limits<double>::infinity());
  return at::_softmax(hidden, last_unless_given(self, dim), /*half_to_float=*/false);
}

// Masked elements have weight 0, and therefore gradient 0.
Tensor masked_softmax_backward(const Tensor& grad, const Tensor& output, const Tensor& mask,
                               OptionalInt dim) {
  TORCH_CHECK(mask.sizes() == grad.sizes(), "_masked_softmax_backward: the mask has shape ",
              mask.sizes(), " and the gradient ", grad.sizes(), "; they should be equal");
  return at::_softmax_backward_data(grad.masked_fill(mask, 0), output, last_unless_given(grad, dim),
                                    output.scalar_type());
}

// Splits [B, T, 3 · D] into three tensors [B, heads, T, D / heads] and scales the queries.
std::tuple<Tensor, Tensor, Tensor> transform_bias_rescale_qkv(const Tensor& qkv, const Tensor& bias,
                                                              int64_t heads) {
  TORCH_CHECK(qkv.dim() == 3 && bias.dim() == 1 && bias.size(0) == qkv.size(2) && heads > 0 &&
                  qkv.size(2) % (3 * heads) == 0,
              "_transform_bias_rescale_qkv: qkv of shape ", qkv.sizes(), " and a bias of shape ",
              bias.sizes(), " do not split into ", heads, " heads");
  const int64_t width = qkv.size(2) / 3 / heads;
  const Tensor parts = (qkv + bias)
                           .view({qkv.size(0), qkv.size(1), 3, heads, width})
                           .permute({2, 0, 3, 1, 4})
                           .contiguous();
  parts.select(0, 0).mul_(1 / std::sqrt(static_cast<double>(width)));
  return {parts.select(0, 0), parts.select(0, 1), parts.select(0, 2)};
}

Tensor project(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim,
               const Tensor& weight) {
  if (query.is_same(key) && key.is_same(value)) return at::linear(query, weight);
  const auto parts = weight.split(embed_dim, 0);
  return at::cat(
      {at::linear(query, parts[0]), at::linear(key, parts[1]), at::linear(value, parts[2])}, 2);
}

// Maps queries, keys and values [B, T, 3 · D] to [B, T, D] and the weights of each head.
std::tuple<Tensor, Tensor> attend(const Tensor& qkv, const Tensor& bias, int64_t heads,
                                  const OptionalTensor& mask, OptionalInt mask_type) {
  const auto [q, k, v] = at::_transform_bias_rescale_qkv(qkv, bias, heads);
  Tensor weights = at::matmul(q, k.transpose(-2, -1));
  weights = mask && mask->defined()
                ? at::_masked_softmax(weights, mask->to(at::kBool), weights.dim() - 1, mask_type)
                : at::_softmax(weights, -1, /*half_to_float=*/false);
  const Tensor joined = at::matmul(weights, v).transpose(1, 2);
  return {joined.reshape({qkv.size(0), qkv.size(1), qkv.size(2) / 3}), weights};
}

// Supports self-attention only, which is what torch's encoder uses.
Tensor attend_nested(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads,
                     const Tensor& qkv_weight, const Tensor& qkv_bias, const Tensor& proj_weight,
                     const Tensor& proj_bias, const OptionalTensor& mask, bool need_weights) {
  TORCH_CHECK(
      query.is_same(key) && key.is_same(value) && !(mask && mask->defined()) && !need_weights,
      "[_native_multi_head_attention] nested tensors attend to themselves, without a mask, "
      "and give no weights; pad them (to_padded_tensor) for the rest");
  const NestedRows nested("_native_multi_head_attention", query);
  if (nested.rows().size(0) == 0) return nested.nest(nested.rows());
  const Tensor padded = nested.pad(at::linear(nested.rows(), qkv_weight));
  const Tensor joined = std::get<0>(attend(padded, qkv_bias, heads, nested.ended(), kPaddingMask));
  return nested.nest(at::linear(nested.unpad(joined), proj_weight, proj_bias));
}

std::tuple<Tensor, Tensor> multi_head_attention(const Tensor& query, const Tensor& key,
                                                const Tensor& value, int64_t embed_dim,
                                                int64_t heads, const Tensor& qkv_weight,
                                                const Tensor& qkv_bias, const Tensor& proj_weight,
                                                const Tensor& proj_bias, const OptionalTensor& mask,
                                                bool need_weights, bool average_weights,
                                                OptionalInt mask_type) {
  TORCH_CHECK(qkv_weight.dim() == 2 && qkv_weight.size(0) == 3 * embed_dim &&
                  qkv_weight.size(1) == embed_dim,
              "_native_multi_head_attention: qkv_weight should be ", 3 * embed_dim, " by ",
              embed_dim, ", got ", qkv_weight.sizes());
  TORCH_CHECK(heads > 0 && embed_dim % heads == 0, "_native_multi_head_attention: embed_dim ",
              embed_dim, " should be a multiple of ", heads, " heads");
  if (query.is_nested())
    return {attend_nested(query, key, value, heads, qkv_weight, qkv_bias, proj_weight, proj_bias,
                          mask, need_weights),
            Tensor()};
  TORCH_CHECK(query.dim() == 3 && key.sizes() == query.sizes() && value.sizes() == query.sizes(),
              "_native_multi_head_attention: query, key and value should have the same three "
              "dimensions, got ",
              query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  TORCH_CHECK(query.size(2) == embed_dim, "_native_multi_head_attention: embed_dim ", embed_dim,
              " should be the width of the query, ", query.size(2));
  auto [joined, weights] =
      attend(project(query, key, value, embed_dim, qkv_weight), qkv_bias, heads, mask, mask_type);
  if (!need_weights) {
    weights = Tensor();
  } else if (average_weights) {
    weights = weights.mean(1);
  }
  return {at::linear(joined, proj_weight, proj_bias), weights};
}

// Source: Vaswani et al., Attention Is All You Need (2017); with `norm_first`, Xiong et al., On
// Layer Normalization in the Transformer Architecture (2020).
Tensor encoder_layer(const Tensor& src, int64_t embed_dim, int64_t heads, const Tensor& qkv_weight,
                     const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias,
                     bool use_gelu, bool norm_first, double eps, const Tensor& norm_weight_1,
                     const Tensor& norm_bias_1, const Tensor& norm_weight_2,
                     const Tensor& norm_bias_2, const Tensor& ffn_weight_1,
                     const Tensor& ffn_bias_1, const Tensor& ffn_weight_2, const Tensor& ffn_bias_2,
                     const OptionalTensor& mask, OptionalInt mask_type) {
  std::optional<NestedRows> nested;
  if (src.is_nested()) nested.emplace("_transformer_encoder_layer_fwd", src);
  const auto norm = [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return std::get<0>(at::native_layer_norm(x, {embed_dim}, weight, bias, eps));
  };
  const auto attended = [&](const Tensor& rows) {
    const Tensor x = nested ? nested->nest(rows) : rows;
    const Tensor y = std::get<0>(at::_native_multi_head_attention(
        x, x, x, embed_dim, heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
        /*need_weights=*/false, /*average_attn_weights=*/true, mask_type));
    return nested ? NestedRows("_transformer_encoder_layer_fwd", y).rows() : y;
  };
  const Tensor given = nested ? nested->rows() : src;
  Tensor x = attended(norm_first ? norm(given, norm_weight_1, norm_bias_1) : given) + given;
  if (!norm_first) x = norm(x, norm_weight_1, norm_bias_1);
  const Tensor rest = norm_first ? norm(x, norm_weight_2, norm_bias_2) : x;
  const Tensor hidden = at::linear(rest, ffn_weight_1, ffn_bias_1);
  const Tensor active = use_gelu ? at::gelu(hidden) : at::relu(hidden);
  x = x + at::linear(active, ffn_weight_2, ffn_bias_2);
  if (!norm_first) x = norm(x, norm_weight_2, norm_bias_2);
  return nested ? nested->nest(x) : x;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_masked_softmax", masked_softmax);
  DL_COMPOSED("_masked_softmax_backward", masked_softmax_backward);
  DL_COMPOSED("_transform_bias_rescale_qkv", transform_bias_rescale_qkv);
  DL_COMPOSED_OF_CALLS("_native_multi_head_attention", multi_head_attention);
  DL_COMPOSED_OF_CALLS("_transformer_encoder_layer_fwd", encoder_layer);
}

TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, library) {
  library.impl("_native_multi_head_attention", TORCH_FN(multi_head_attention));
  library.impl("_transformer_encoder_layer_fwd", TORCH_FN(encoder_layer));
}

}  // namespace dl::core::composed
