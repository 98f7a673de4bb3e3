"""Scaled dot-product attention with the variations of vLLM's models."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True)
class Scores:
    """Scores of a layer.

    :ivar scale: factor of the products.
    :ivar cap: limit of the scores, which are cap · tanh(score / cap); 0 for none.
    :ivar slopes: ALiBi's slope of each head, or None. Source: Press et al., Train Short, Test Long
        (2022).
    """

    scale: float
    cap: float = 0.0
    slopes: torch.Tensor | None = None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scores: Scores,
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """Return [N, H, S, D] for queries [N, H, S, D] and keys and values [N, Hₖ, T, D].

    :param mask: broadcasts to [N, H, S, T], true for the keys that take part; None if every query
        attends to the keys up to its own position.
    """
    grouped = query.shape[1] != key.shape[1]
    if scores.cap:
        return _capped(query, key, value, scores, mask)
    if scores.slopes is None:
        return scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=mask is None,
            scale=scores.scale,
            enable_gqa=grouped,
        )
    bias = _bias(query, key, scores.slopes, _causal(query, key, mask))
    return scaled_dot_product_attention(
        query, key, value, attn_mask=bias, scale=scores.scale, enable_gqa=grouped
    )


def _causal(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    if mask is not None:
        return mask
    shape = (query.shape[2], key.shape[2])
    return torch.ones(shape, dtype=torch.bool, device=query.device).tril()


def _bias(
    query: torch.Tensor, key: torch.Tensor, slopes: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Return slope · position of the key, which differs from slope · distance by a constant."""
    places = torch.arange(key.shape[2], device=query.device, dtype=torch.float32)
    bias = (slopes[:, None, None] * places).expand(query.shape[0], -1, query.shape[2], -1)
    return bias.masked_fill(~mask, float("-inf")).to(query.dtype)


def _capped(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scores: Scores,
    mask: torch.Tensor | None,
) -> torch.Tensor:
    groups = query.shape[1] // key.shape[1]
    keys = key.repeat_interleave(groups, 1) if groups > 1 else key
    values = value.repeat_interleave(groups, 1) if groups > 1 else value
    products = (query @ keys.transpose(-2, -1)).float() * scores.scale
    capped = torch.tanh(products / scores.cap) * scores.cap
    weights = capped.masked_fill(~_causal(query, key, mask), float("-inf")).softmax(-1)
    return weights.to(values.dtype) @ values
