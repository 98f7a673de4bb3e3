"""InternLM2, which transformers lacks: one projection yields queries, keys and values.

Its rows are grouped by key: the queries that share a key, then the key, then the value.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

HIDDEN, INNER, HEADS, KEYS, LAYERS = 32, 48, 4, 2, 2
HEAD = HIDDEN // HEADS
BASE = 1e4


def rotated(states: torch.Tensor) -> torch.Tensor:
    """Apply rotary position embedding to states (rows, heads, length, HEAD)."""
    frequencies = BASE ** (-torch.arange(0, HEAD, 2, device=states.device) / HEAD)
    angles = torch.outer(torch.arange(states.shape[2], device=states.device), frequencies)
    cosine, sine = (each.repeat(1, 2).to(states.dtype) for each in (angles.cos(), angles.sin()))
    first, second = states.chunk(2, dim=-1)
    return states * cosine + torch.cat([-second, first], dim=-1) * sine


class Attention(nn.Module):
    """Causal grouped-query attention: (rows, length, HIDDEN) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.wqkv = nn.Linear(HIDDEN, (HEADS + 2 * KEYS) * HEAD, bias=False)
        self.wo = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        rows, length, _ = states.shape
        grouped = self.wqkv(states).view(rows, length, KEYS, HEADS // KEYS + 2, HEAD)
        queries = grouped[..., :-2, :].reshape(rows, length, HEADS, HEAD).transpose(1, 2)
        keys, values = (grouped[..., place, :].transpose(1, 2) for place in (-2, -1))
        seen = functional.scaled_dot_product_attention(
            rotated(queries), rotated(keys), values, is_causal=True, enable_gqa=True
        )
        return self.wo(seen.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention and a gated MLP, each after a norm: (rows, length, HIDDEN) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(HIDDEN, 1e-6), nn.RMSNorm(HIDDEN, 1e-6)
        self.attention = Attention()
        self.w1, self.w3 = (nn.Linear(HIDDEN, INNER, bias=False) for _ in range(2))
        self.w2 = nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        states = states + self.attention(self.attention_norm(states))
        x = self.ffn_norm(states)
        return states + self.w2(functional.silu(self.w1(x)) * self.w3(x))


class InternLM2(nn.Module):
    """Language model: tokens (rows, length) -> logits (rows, length, vocabulary)."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(words, HIDDEN)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.RMSNorm(HIDDEN, 1e-6)
        self.output = nn.Linear(HIDDEN, words, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.output(self.norm(self.layers(self.tok_embeddings(words))))
