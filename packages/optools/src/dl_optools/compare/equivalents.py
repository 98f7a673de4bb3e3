"""Device-only overloads, expressed with operators that the CPU also has.

They serve as references. Results whose format is device-specific are None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


def _scores(query: Tensor, key: Tensor, bias: Tensor | None, causal: bool, scale: Any) -> Tensor:
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = query @ _for_heads(key, query).transpose(-2, -1) * factor
    if bias is not None:
        hidden = bias.logical_not() if bias.dtype is torch.bool else None
        scores = scores + bias if hidden is None else scores.masked_fill(hidden, -math.inf)
    if causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores


def _for_heads(tensor: Tensor, query: Tensor) -> Tensor:
    """Repeat heads of keys or values that a group of query heads shares."""
    return tensor.repeat_interleave(query.size(1) // max(tensor.size(1), 1), 1)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Scaled dot-product attention of shapes [N, H, L, E], [N, H, S, E], [N, H, S, V]."""
    scores = _scores(query, key, attn_bias, is_causal, scale)
    # Rows without any key are zero in torch's fused kernels.
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    logsumexp = torch.logsumexp(scores, -1)
    output = weights @ _for_heads(value, query)
    return (output, logsumexp, None, None, None, None, None, None, None)


def attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    grad_input_mask: list[bool],
    out: Tensor,
    logsumexp: Tensor,
    *rest: Any,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """Return gradients of query, key, value and bias from the forward's ``out`` and ``logsumexp``.

    Source: Dao et al., FlashAttention (2022), algorithm 4.
    """
    is_causal = bool(rest[5])
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = _scores(query, key, attn_bias, is_causal, scale)
    rows = logsumexp.to(scores.dtype)[..., : scores.size(-2)].unsqueeze(-1)
    # Rows without any key have no weights.
    weights = torch.where(rows.isneginf(), 0.0, torch.exp(scores - rows))
    incoming = grad_out @ _for_heads(value, query).transpose(-2, -1)
    inner = (grad_out * out).sum(-1, keepdim=True)
    grad_scores = weights * (incoming - inner)
    gradients = [
        grad_scores @ _for_heads(key, query) * factor,
        _group_sum(grad_scores.transpose(-2, -1) @ query * factor, key),
        _group_sum(weights.transpose(-2, -1) @ grad_out, value),
    ]
    found: list[Tensor | None] = [
        gradient if wanted else None
        for gradient, wanted in zip(gradients, grad_input_mask, strict=False)
    ]
    bias = attn_bias is not None and grad_input_mask[3]
    found.append(
        grad_scores.sum_to_size(attn_bias.shape) if bias and attn_bias is not None else None
    )
    return tuple(found)


def _group_sum(gradient: Tensor, like: Tensor) -> Tensor:
    """Sum the gradients of the query heads that share a head of keys or values."""
    shared: Tensor = gradient.unflatten(1, (like.size(1), -1)).sum(2)
    return shared


def _with_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return hidden and cell state [N, H] from gates [N, 4H] in torch's order i, f, g, o.

    The third result is saved for the gradient: the activated gates.

    Source: Hochreiter and Schmidhuber, Long Short-Term Memory (1997).
    """
    gates = _with_bias(input_gates, input_bias) + _with_bias(hidden_gates, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[Tensor | None, ...]:
    """Return gradients of gates, cell state and bias from the activated gates [N, 4H]."""
    if grad_hy is None and grad_cy is None:
        return (None, None, None)
    i, f, g, o = workspace.chunk(4, 1)
    squashed = cy.tanh()
    hidden = torch.zeros_like(cx) if grad_hy is None else grad_hy
    cell = hidden * o * (1 - squashed * squashed)
    if grad_cy is not None:
        cell = cell + grad_cy
    gates = torch.cat(
        [
            cell * g * i * (1 - i),
            cell * cx * f * (1 - f),
            cell * i * (1 - g * g),
            hidden * squashed * o * (1 - o),
        ],
        1,
    )
    return gates, cell * f, gates.sum(0) if has_bias else None


def gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the hidden state [N, H] from gates [N, 3H] in torch's order: reset, update, new.

    The second result is saved for the gradient, [N, 5H]: the gates, the previous state, and the
    hidden part of the new gate.

    Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014), in torch's
    variant, which applies the reset gate after the hidden product.
    """
    ours = _with_bias(input_gates, input_bias).chunk(3, 1)
    theirs = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset, update = (ours[0] + theirs[0]).sigmoid(), (ours[1] + theirs[1]).sigmoid()
    fresh = (ours[2] + reset * theirs[2]).tanh()
    workspace = torch.cat([reset, update, fresh, hx, theirs[2]], 1)
    return fresh + update * (hx - fresh), workspace


def gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """Return gradients of both gates, hidden state and both biases.

    :param workspace: [N, 5H], as torch's own devices return it: reset, update and new gate, the
        previous state, the hidden part of the new gate.
    :raises ValueError: it has values that such gates cannot have, so the device's layout differs.
    """
    if workspace.dim() != 2 or workspace.size(1) != 5 * grad_hy.size(1):
        raise ValueError(f"the workspace of this device has the shape {tuple(workspace.shape)}")
    reset, update, fresh, hx, hidden = workspace.chunk(5, 1)
    # In another layout, single values may be in the gates' range by chance, but never all values.
    if bool(
        (torch.cat([reset, update], 1) < 0).any() or (workspace[:, : 3 * hx.size(1)] > 1).any()
    ):
        raise ValueError("the workspace of this device has a layout of its own")
    grad_hx = grad_hy * update
    grad_fresh = (grad_hy - grad_hx) * (1 - fresh * fresh)
    grad_update = grad_hy * (hx - fresh) * update * (1 - update)
    grad_reset = grad_fresh * hidden * reset * (1 - reset)
    ours = torch.cat([grad_reset, grad_update, grad_fresh], 1)
    theirs = torch.cat([grad_reset, grad_update, grad_fresh * reset], 1)
    biases = (ours.sum(0), theirs.sum(0)) if has_bias else (None, None)
    return ours, theirs, grad_hx, *biases


EQUIVALENTS: dict[str, Callable[..., Any]] = {
    "_scaled_dot_product_fused_attention_overrideable": attention,
    "_scaled_dot_product_fused_attention_overrideable_backward": attention_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
}
"""Equivalents by the names of their schemas."""
