"""CPU implementations of device-only operators, with all of their results in the same dtypes.

Unlike the references of :mod:`.compare.equivalents` they return everything that the operator's own
backward reads, so that forward and backward may run on different devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from dl_optools.compare.equivalents import attention_backward

Tensor = torch.Tensor


def _to_accumulation_dtype(tensor: Tensor) -> Tensor:
    """Convert to the accumulation dtype of devices: half precision would round in between."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _repeat_heads(tensor: Tensor, heads: int) -> Tensor:
    """Repeat heads of keys or values to match those of queries; neighbouring heads share one."""
    return _to_accumulation_dtype(tensor).repeat_interleave(heads // tensor.size(1), 1)


def _bias(bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Return what is added to the scores; for a mask, minus infinity where it is False."""
    if bias is None or bias.dtype != torch.bool:
        return None if bias is None else bias.to(dtype)
    return torch.zeros(bias.shape, dtype=dtype).masked_fill(~bias, -math.inf)


def _match_layout(like: Tensor, value: Tensor) -> Tensor:
    """Convert to the dtype of ``like``, and to its dimension order if the shapes are equal."""
    if value.shape != like.shape:
        return value.to(like.dtype)
    return torch.empty_like(like).copy_(value)


def attention_forward(
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
    """Attention of shapes [N, H, L, E], [N, G, S, E], [N, G, S, V] with H a multiple of G."""
    heads = query.size(1)
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = _to_accumulation_dtype(query) @ _repeat_heads(key, heads).transpose(-2, -1) * factor
    if (bias := _bias(attn_bias, scores.dtype)) is not None:
        scores = scores + bias
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    # Rows without any key are zero in torch's fused kernels.
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    out = _match_layout(query, weights @ _repeat_heads(value, heads))
    lse = torch.logsumexp(scores, -1)
    seed, offset = torch.zeros(2, dtype=torch.long)
    return (out, lse, None, None, query.size(2), key.size(2), seed, offset, None)


def attention_gradients(
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
    """Return its gradients; see :func:`.compare.equivalents.attention_backward`."""
    heads = query.size(1)
    keys, values = _repeat_heads(key, heads), _repeat_heads(value, heads)
    bias = _bias(attn_bias, keys.dtype)
    found = attention_backward(
        *(
            _to_accumulation_dtype(grad_out),
            _to_accumulation_dtype(query),
            keys,
            values,
            bias,
            grad_input_mask,
            _to_accumulation_dtype(out),
        ),
        *(logsumexp, *rest),
        scale=scale,
    )

    def fitting(gradient: Tensor | None, like: Tensor | None) -> Tensor | None:
        if gradient is None or like is None:
            return None
        if gradient.shape[1] != like.shape[1] and like is not attn_bias:
            # Heads that several queries share.
            groups = (like.size(1), heads // like.size(1))
            gradient = gradient.unflatten(1, groups).sum(2)
        return _match_layout(like, gradient)

    return tuple(map(fitting, found, (query, key, value, attn_bias)))


HOST_IMPLEMENTATIONS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "_scaled_dot_product_fused_attention_overrideable": attention_forward,
    "_scaled_dot_product_fused_attention_overrideable_backward": attention_gradients,
}
"""CPU implementations by the names of their schemas. None of them draws random numbers."""
