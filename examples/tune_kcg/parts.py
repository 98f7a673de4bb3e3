"""Shared parts of the models: their sizes, and layers that several models use."""

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

    vocab_size: int = 1024
    dim: int = 64
    heads: int = 2
    layers: int = 2
    max_position_embeddings: int = 64


def matmul_of(baseline: bool) -> Matmul:
    """Return the matrix product: torch's, or a tuned kernel if one is registered."""
    return torch.matmul if baseline else OpProxy.f_matmul


class Embedding(nn.Module):
    """Token embedding plus learned position embedding."""

    def __init__(self, args: ModelArgs) -> None:
        super().__init__()
        self.tokens = create_fixed_embedding(args.vocab_size, args.dim)
        self.places = create_fixed_embedding(args.max_position_embeddings, args.dim)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        y: torch.Tensor = self.tokens(input_ids) + self.places(places)
        return y


def feed_forward(args: ModelArgs, f_mm: Matmul, *, bias: bool, gelu: str = "none") -> nn.Module:
    """Return two linear layers with GELU between them.

    :param gelu: approximation of GELU, as in torch.
    """
    return nn.Sequential(
        CustomLinear(args.dim, 4 * args.dim, bias=bias, f_mm=f_mm),
        nn.GELU(approximate=gelu),
        CustomLinear(4 * args.dim, args.dim, bias=bias, f_mm=f_mm),
    )


class PreNormBlock(nn.Module):
    """Residual layers, each with normalized inputs.

    :param parts: pairs of a normalization and a layer.
    """

    def __init__(self, *parts: tuple[nn.Module, nn.Module]) -> None:
        super().__init__()
        self.norms = nn.ModuleList(norm for norm, _ in parts)
        self.layers = nn.ModuleList(layer for _, layer in parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(norm(x))
        return x
