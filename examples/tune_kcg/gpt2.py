"""A small GPT-2: one product for queries, keys and values; the output layer is the embedding."""

from __future__ import annotations

import torch
from attention import attend, into_heads
from kcg.ModelUtils import CustomLinear
from parts import Embedding, Matmul, ModelArgs, PreNormBlock, feed_forward, matmul_of
from torch import nn


class JointAttention(nn.Module):
    """Causal self-attention, with one matrix product for queries, keys and values."""

    def __init__(self, args: ModelArgs, f_mm: Matmul) -> None:
        super().__init__()
        self.heads, self.f_mm = args.heads, f_mm
        self.qkv = CustomLinear(args.dim, 3 * args.dim, f_mm=f_mm)
        self.out = CustomLinear(args.dim, args.dim, f_mm=f_mm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (into_heads(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        y: torch.Tensor = self.out(attend(q, k, v, self.f_mm, causal=True))
        return y


def block(args: ModelArgs, f_mm: Matmul) -> PreNormBlock:
    """Return one layer."""
    return PreNormBlock(
        (nn.LayerNorm(args.dim), JointAttention(args, f_mm)),
        (nn.LayerNorm(args.dim), feed_forward(args, f_mm, bias=True, gelu="tanh")),
    )


class GPT2(nn.Module):
    """Maps tokens, shape (batch, length), to logits, shape (batch, length, vocab_size).

    :param baseline: True: use torch's matrix products.
    """

    def __init__(self, baseline: bool, args: ModelArgs | None = None) -> None:
        super().__init__()
        args = args or ModelArgs()
        f_mm = self.f_mm = matmul_of(baseline)
        self.embedding = Embedding(args)
        self.blocks = nn.Sequential(*(block(args, f_mm) for _ in range(args.layers)))
        self.norm = nn.LayerNorm(args.dim)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.blocks(self.embedding(input_ids)))
        return self.f_mm(x, self.embedding.tokens.weight.t())
