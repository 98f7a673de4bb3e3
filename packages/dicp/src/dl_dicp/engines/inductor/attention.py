"""Attention operators for Inductor on the CPU.

On out-of-tree devices, torch traces attention as an operator that the CPU does not implement. In
eager mode dl-core calls the CPU's operator and adds the missing results; this module does the same
in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _has_counterpart(query: Tensor, value: Tensor, bias: Tensor | None) -> bool:
    one_size = query.dim() == 4 and query.shape[-1] == value.shape[-1]
    return one_size and (bias is None or bias.dim() in (2, 4))


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
) -> Any:
    """Call the CPU's operator. Seed and offset are unused, since no random numbers are drawn.

    :returns: NotImplemented if the CPU has no such operator.
    """
    if dropout_p or return_debug_mask or not _has_counterpart(query, value, attn_bias):
        return NotImplemented
    out, lse = aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, is_causal, attn_mask=attn_bias, scale=scale
    )
    seed, offset = (torch.zeros((), dtype=torch.int64, device="cpu") for _ in range(2))
    return out, lse, None, None, query.shape[2], key.shape[2], seed, offset, None


def attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    grad_input_mask: Sequence[bool],
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    philox_seed: Tensor,
    philox_offset: Tensor,
    *,
    scale: float | None = None,
) -> Any:
    """Call the CPU's backward operator.

    :returns: NotImplemented if the CPU has no such operator, or if the mask gets a gradient.
    """
    trains_mask = attn_bias is not None and grad_input_mask[3]
    if trains_mask or dropout_p or not _has_counterpart(query, value, attn_bias):
        return NotImplemented
    grads = aten._scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out,
        query,
        key,
        value,
        out,
        logsumexp,
        0.0,
        is_causal,
        attn_mask=attn_bias,
        scale=scale,
    )
    return (*grads, None)


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    aten._scaled_dot_product_fused_attention_overrideable.default: attention,
    aten._scaled_dot_product_fused_attention_overrideable_backward.default: attention_backward,
}
"""Return the decompositions for AOTAutograd."""
