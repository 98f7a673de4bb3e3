"""A small BERT: bidirectional attention, and normalization after each sum."""

from __future__ import annotations

import torch
from attention import Attention
from parts import Embedding, Matmul, ModelArgs, feed_forward, matmul_of
from torch import nn


class Block(nn.Module):
    """Attention and a feed-forward network, each with a residual connection and normalization."""

    def __init__(self, args: ModelArgs, f_mm: Matmul) -> None:
        super().__init__()
        self.attention = Attention(args, f_mm)
        self.feed_forward = feed_forward(args, f_mm, bias=False)
        self.norms = nn.ModuleList(nn.LayerNorm(args.dim) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norms[0](x + self.attention(x))
        y: torch.Tensor = self.norms[1](x + self.feed_forward(x))
        return y


class BERT(nn.Module):
    """Maps tokens, shape (batch, length), to features, shape (batch, length, dim).

    :param baseline: True: use torch's matrix products.
    """

    def __init__(self, baseline: bool, args: ModelArgs | None = None) -> None:
        super().__init__()
        args = args or ModelArgs()
        f_mm = matmul_of(baseline)
        self.embedding = Embedding(args)
        self.blocks = nn.Sequential(*(Block(args, f_mm) for _ in range(args.layers)))

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.blocks(self.embedding(input_ids))
        return y
