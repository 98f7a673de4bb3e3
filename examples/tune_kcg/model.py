"""A small BERT whose products of matrices go through DeepGen's interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from kcg.ModelUtils import CustomLinear, create_fixed_embedding
from kcg.TorchInjector import OpProxy
from torch import nn

Matmul = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class ModelArgs:
    """Sizes of a model."""

    vocab_size: int = 1000
    dim: int = 64
    heads: int = 2
    layers: int = 2
    max_position_embeddings: int = 64


class Attention(nn.Module):
    """Self-attention of several heads."""

    def __init__(self, args: ModelArgs, f_mm: Matmul) -> None:
        super().__init__()
        self.heads, self.width = args.heads, args.dim // args.heads
        self.wq, self.wk, self.wv, self.wo = (
            CustomLinear(args.dim, args.dim, bias=False, f_mm=f_mm) for _ in range(4)
        )
        self.f_matmul = f_mm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            linear(x).view(batch, length, self.heads, self.width).transpose(1, 2)
            for linear in (self.wq, self.wk, self.wv)
        )
        scores = self.f_matmul(q, k.transpose(-1, -2)) * self.width**-0.5
        mixed = self.f_matmul(torch.softmax(scores, dim=-1), v)
        joined: torch.Tensor = self.wo(mixed.transpose(1, 2).reshape(batch, length, -1))
        return joined


class Block(nn.Module):
    """Attention and a feed-forward network, each added to what came in and normalised."""

    def __init__(self, args: ModelArgs, f_mm: Matmul) -> None:
        super().__init__()
        self.attention = Attention(args, f_mm)
        self.feed_forward = nn.Sequential(
            CustomLinear(args.dim, 4 * args.dim, bias=False, f_mm=f_mm),
            nn.GELU(),
            CustomLinear(4 * args.dim, args.dim, bias=False, f_mm=f_mm),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(args.dim) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norms[0](x + self.attention(x))
        y: torch.Tensor = self.norms[1](x + self.feed_forward(x))
        return y


class BERT(nn.Module):
    """Tokens, shape (batch, length), to shape (batch, length, dim).

    :param baseline: whether products are torch's.
    """

    def __init__(self, baseline: bool, args: ModelArgs | None = None) -> None:
        super().__init__()
        args = args or ModelArgs()
        f_mm = torch.matmul if baseline else OpProxy.f_matmul
        self.tokens = create_fixed_embedding(args.vocab_size, args.dim)
        self.positions = create_fixed_embedding(args.max_position_embeddings, args.dim)
        self.blocks = nn.Sequential(*(Block(args, f_mm) for _ in range(args.layers)))

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        y: torch.Tensor = self.blocks(self.tokens(input_ids) + self.positions(places))
        return y
