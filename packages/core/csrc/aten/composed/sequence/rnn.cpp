// Recurrent cells. For out-of-tree devices torch calls its fused kernels, and there are no CPU
// kernels to fall back to. Here the cells are composed of pointwise operators that write to slices
// of one tensor.
//
// Workspaces hold what the backward pass needs. LSTM: the activated gates i, f, g, o. GRU: the
// reset and update gates, the new gate, the previous state and the hidden part of the new gate.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>

#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

bool present(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

at::Tensor with_bias(const at::Tensor& gates, const OptionalTensor& bias) {
  return present(bias) ? at::add(gates, *bias) : gates;
}

// Source: Hochreiter and Schmidhuber, Long Short-Term Memory (1997), gates in torch's order.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates,
                                                         const at::Tensor& cx,
                                                         const OptionalTensor& input_bias,
                                                         const OptionalTensor& hidden_bias) {
  at::Tensor gates = at::add(input_gates, hidden_gates);
  if (present(input_bias)) gates.add_(*input_bias);
  if (present(hidden_bias)) gates.add_(*hidden_bias);
  const int64_t width = gates.size(1) / 4;
  gates.narrow(1, 0, 2 * width).sigmoid_();
  gates.narrow(1, 2 * width, width).tanh_();
  gates.narrow(1, 3 * width, width).sigmoid_();
  const auto parts = gates.chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  at::Tensor cy = at::mul(f, cx).addcmul_(i, g);
  at::Tensor hy = at::tanh(cy).mul_(o);
  return {std::move(hy), std::move(cy), std::move(gates)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const OptionalTensor& grad_hy, const OptionalTensor& grad_cy, const at::Tensor& cx,
    const at::Tensor& cy, const at::Tensor& workspace, bool has_bias) {
  const bool has_hy = present(grad_hy), has_cy = present(grad_cy);
  if (!has_hy && !has_cy) return {};
  const auto parts = workspace.chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  at::Tensor gates = at::empty_like(workspace);
  auto grads = gates.chunk(4, 1);
  at::Tensor grad_cell;
  if (has_hy) {
    const at::Tensor tanh_cy = at::tanh(cy);
    grad_cell = at::tanh_backward(at::mul(*grad_hy, o), tanh_cy);
    if (has_cy) grad_cell.add_(*grad_cy);
    at::sigmoid_backward_out(grads[3], at::mul(*grad_hy, tanh_cy), o);
  } else {
    grad_cell = *grad_cy;
    grads[3].zero_();
  }
  at::sigmoid_backward_out(grads[0], at::mul(grad_cell, g), i);
  at::sigmoid_backward_out(grads[1], at::mul(grad_cell, cx), f);
  at::tanh_backward_out(grads[2], at::mul(grad_cell, i), g);
  at::Tensor bias = has_bias ? gates.sum(0) : at::Tensor();
  return {std::move(gates), at::mul(grad_cell, f), std::move(bias)};
}

// Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014); torch's
// variant.
std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates, const at::Tensor& hx,
                                            const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias) {
  const at::Tensor from_input = with_bias(input_gates, input_bias);
  const at::Tensor from_hidden = with_bias(hidden_gates, hidden_bias);
  const int64_t width = hx.size(1);
  at::Tensor workspace = at::empty({hx.size(0), 5 * width}, hx.options());
  at::Tensor gates = workspace.narrow(1, 0, 2 * width);
  at::add_out(gates, from_input.narrow(1, 0, 2 * width), from_hidden.narrow(1, 0, 2 * width))
      .sigmoid_();
  auto parts = workspace.chunk(5, 1);
  const at::Tensor &reset = parts[0], &update = parts[1], &hidden_new = parts[4];
  parts[3].copy_(hx);
  parts[4].copy_(from_hidden.narrow(1, 2 * width, width));
  at::Tensor& fresh = parts[2];
  at::addcmul_out(fresh, from_input.narrow(1, 2 * width, width), reset, hidden_new).tanh_();
  return {at::lerp(fresh, hx, update), workspace};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const at::Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &hx = parts[3],
                   &hidden_new = parts[4];
  const int64_t width = reset.size(1);
  at::Tensor input_gates = at::empty({workspace.size(0), 3 * width}, workspace.options());
  auto grads = input_gates.chunk(3, 1);
  at::Tensor grad_hx = at::mul(grad_hy, update);
  at::tanh_backward_out(grads[2], grad_hy - grad_hx, fresh);
  at::sigmoid_backward_out(grads[1], (hx - fresh).mul_(grad_hy), update);
  at::sigmoid_backward_out(grads[0], at::mul(grads[2], hidden_new), reset);
  at::Tensor hidden_gates = input_gates.clone();
  hidden_gates.narrow(1, 2 * width, width).mul_(reset);
  at::Tensor input_bias = has_bias ? input_gates.sum(0) : at::Tensor();
  at::Tensor hidden_bias = has_bias ? hidden_gates.sum(0) : at::Tensor();
  return {std::move(input_gates), std::move(hidden_gates), std::move(grad_hx),
          std::move(input_bias), std::move(hidden_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_thnn_fused_lstm_cell", lstm_cell);
  DL_COMPOSED("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  DL_COMPOSED("_thnn_fused_gru_cell", gru_cell);
  DL_COMPOSED("_thnn_fused_gru_cell_backward", gru_cell_backward);
}

}  // namespace dl::core::composed
