// Recurrent cells. torch takes its fused path for out-of-tree devices, for which no CPU kernel
// exists; here the cells are built from pointwise operators.
//
// Workspaces hold what backward needs: LSTM the activated gates i, f, g, o; GRU the reset and
// update gates, the new gate, the previous state and the hidden part of the new gate.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

#include "aten/composed.h"

namespace dl::core {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor with_bias(const at::Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// Source: Hochreiter and Schmidhuber, Long Short-Term Memory (1997), gates in torch's order.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates,
                                                         const at::Tensor& cx,
                                                         const OptionalTensor& input_bias,
                                                         const OptionalTensor& hidden_bias) {
  const at::Tensor gates =
      with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias);
  const auto parts = gates.chunk(4, 1);
  const at::Tensor i = at::sigmoid(parts[0]), f = at::sigmoid(parts[1]);
  const at::Tensor g = at::tanh(parts[2]), o = at::sigmoid(parts[3]);
  const at::Tensor cy = f * cx + i * g;
  return {o * at::tanh(cy), cy, at::cat({i, f, g, o}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const OptionalTensor& grad_hy, const OptionalTensor& grad_cy, const at::Tensor& cx,
    const at::Tensor& cy, const at::Tensor& workspace, bool has_bias) {
  const bool has_hy = grad_hy && grad_hy->defined(), has_cy = grad_cy && grad_cy->defined();
  if (!has_hy && !has_cy) return {};
  const auto parts = workspace.chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  const at::Tensor tanh_cy = at::tanh(cy);
  at::Tensor grad_cell = has_cy ? *grad_cy : at::Tensor();
  at::Tensor grad_o;
  if (has_hy) {
    const at::Tensor through = *grad_hy * o * (1 - tanh_cy * tanh_cy);
    grad_cell = has_cy ? grad_cell + through : through;
    grad_o = *grad_hy * tanh_cy * o * (1 - o);
  } else {
    grad_o = at::zeros_like(o);
  }
  const at::Tensor gates = at::cat({grad_cell * g * i * (1 - i), grad_cell * cx * f * (1 - f),
                                    grad_cell * i * (1 - g * g), grad_o},
                                   1);
  return {gates, grad_cell * f, has_bias ? gates.sum(0) : at::Tensor()};
}

// Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014), torch's
// variant.
std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates, const at::Tensor& hx,
                                            const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias) {
  const auto from_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = at::sigmoid(from_input[0] + from_hidden[0]);
  const at::Tensor update = at::sigmoid(from_input[1] + from_hidden[1]);
  const at::Tensor fresh = at::tanh(from_input[2] + reset * from_hidden[2]);
  return {(hx - fresh) * update + fresh, at::cat({reset, update, fresh, hx, from_hidden[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const at::Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &hx = parts[3],
                   &hidden_new = parts[4];
  const at::Tensor grad_fresh = grad_hy * (1 - update) * (1 - fresh * fresh);
  const at::Tensor grad_update = grad_hy * (hx - fresh) * update * (1 - update);
  const at::Tensor grad_reset = grad_fresh * hidden_new * reset * (1 - reset);
  const at::Tensor input_gates = at::cat({grad_reset, grad_update, grad_fresh}, 1);
  const at::Tensor hidden_gates = at::cat({grad_reset, grad_update, grad_fresh * reset}, 1);
  return {input_gates, hidden_gates, grad_hy * update, has_bias ? input_gates.sum(0) : at::Tensor(),
          has_bias ? hidden_gates.sum(0) : at::Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_thnn_fused_lstm_cell", lstm_cell);
  DL_COMPOSED("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  DL_COMPOSED("_thnn_fused_gru_cell", gru_cell);
  DL_COMPOSED("_thnn_fused_gru_cell_backward", gru_cell_backward);
}

}  // namespace dl::core
