"""Multi-head attention, whose matrix products go through DeepGen's interface."""

from __future__ import annotations

from collections.abc import Callable

import torch
from kcg.ModelUtils import CustomLinear
from parts import Matmul, ModelArgs
from torch import nn


def into_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Reshape (batch, length, heads * width) to (batch, heads, length, width)."""
    batch, length, dim = x.shape
    return x.view(batch, length, heads, dim // heads).transpose(1, 2)


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, f_mm: Matmul, *, causal: bool
) -> torch.Tensor:
    """Return scaled dot-product attention of all heads, shape (batch, length, heads * width).

    :param causal: True: a position attends only to itself and earlier positions.
    """
    scores = f_mm(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    if causal:
        length = q.shape[-2]
        later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return f_mm(torch.softmax(scores, dim=-1), v).transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Self-attention with a matrix product each for queries, keys, values and the output.

    :param placed: position embedding of queries and keys, shape (batch, heads, length, width).
    """

    def __init__(
        self,
        args: ModelArgs,
        f_mm: Matmul,
        *,
        causal: bool = False,
        placed: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
    ) -> None:
        super().__init__()
        self.heads, self.f_mm, self.causal, self.placed = args.heads, f_mm, causal, placed
        self.wq, self.wk, self.wv, self.wo = (
            CustomLinear(args.dim, args.dim, bias=False, f_mm=f_mm) for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (into_heads(linear(x), self.heads) for linear in (self.wq, self.wk, self.wv))
        joined = attend(self.placed(q), self.placed(k), v, self.f_mm, causal=self.causal)
        y: torch.Tensor = self.wo(joined)
        return y
