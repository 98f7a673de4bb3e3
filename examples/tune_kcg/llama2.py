"""A small Llama 2: rotary position embeddings, and a gated feed-forward network."""

from __future__ import annotations

import torch
from attention import Attention
from kcg.ModelUtils import CustomLinear, create_fixed_embedding
from parts import Matmul, ModelArgs, PreNormBlock, matmul_of
from torch import nn

BASE = 10000.0
"""Base of the wavelengths in rotary position embeddings."""
EPSILON = 1e-5


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Apply rotary position embeddings (Su et al. 2021): rotate each pair of elements with the same
    index in the first and the second half of the width by an angle that grows with the position.

    :param x: shape (batch, heads, length, width).
    """
    length, width = x.shape[-2:]
    places = torch.arange(length, device=x.device, dtype=x.dtype)
    waves = BASE ** (torch.arange(0, width, 2, device=x.device, dtype=x.dtype) / -width)
    angles = places[:, None] * waves
    cosine, sine = angles.cos(), angles.sin()
    one, two = x.chunk(2, dim=-1)
    return torch.cat((one * cosine - two * sine, two * cosine + one * sine), dim=-1)


class GatedFeedForward(nn.Module):
    """Three products instead of two; two thirds of the usual width, rounded to 64, compensate."""

    def __init__(self, args: ModelArgs, f_mm: Matmul) -> None:
        super().__init__()
        hidden = -(-8 * args.dim // (3 * 64)) * 64
        self.gate, self.up = (
            CustomLinear(args.dim, hidden, bias=False, f_mm=f_mm) for _ in range(2)
        )
        self.down = CustomLinear(hidden, args.dim, bias=False, f_mm=f_mm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.down(nn.functional.silu(self.gate(x)) * self.up(x))
        return y


def block(args: ModelArgs, f_mm: Matmul) -> PreNormBlock:
    """Return one layer."""
    return PreNormBlock(
        (nn.RMSNorm(args.dim, EPSILON), Attention(args, f_mm, causal=True, placed=rotate)),
        (nn.RMSNorm(args.dim, EPSILON), GatedFeedForward(args, f_mm)),
    )


class Llama2(nn.Module):
    """Maps tokens, shape (batch, length), to logits, shape (batch, length, vocab_size).

    :param baseline: True: use torch's matrix products.
    """

    def __init__(self, baseline: bool, args: ModelArgs | None = None) -> None:
        super().__init__()
        args = args or ModelArgs()
        f_mm = matmul_of(baseline)
        self.tokens = create_fixed_embedding(args.vocab_size, args.dim)
        self.blocks = nn.Sequential(*(block(args, f_mm) for _ in range(args.layers)))
        self.norm = nn.RMSNorm(args.dim, EPSILON)
        self.output = CustomLinear(args.dim, args.vocab_size, bias=False, f_mm=f_mm)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.output(self.norm(self.blocks(self.tokens(input_ids))))
        return y
