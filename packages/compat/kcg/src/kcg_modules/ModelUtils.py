"""Layers with fixed weights, for building two equal models, and comparison of their results."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .gemm import dialect

__all__ = [
    "CustomLinear",
    "DeviceInfo",
    "PathManager",
    "compare_with_error",
    "create_fixed_embedding",
    "evaluate_model_time",
]
_RUNS = 5
Matmul = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _fixed(*shape: int) -> torch.Tensor:
    """Return different numbers that depend only on the shape. With constant weights, a product that
    permutes its columns would still be right.
    """
    generator = torch.Generator().manual_seed(hash(shape) % 2**31)
    drawn = torch.randn(shape, generator=generator)
    return drawn.mul_(shape[-1] ** -0.5)


class CustomLinear(torch.nn.Module):
    """Linear layer with a given matrix product, and weights that depend only on its sizes.

    :param f_mm: function that multiplies (..., in_features) by (in_features, out_features).
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        f_mm: Matmul = torch.matmul,
    ) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(_fixed(in_features, out_features))
        self.bias = torch.nn.Parameter(_fixed(out_features)) if bias else None
        self.f_mm = f_mm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the product plus the bias."""
        product = self.f_mm(x, self.weight)
        return product if self.bias is None else product + self.bias


def create_fixed_embedding(num_embeddings: int, embedding_dim: int) -> torch.nn.Embedding:
    """Return an embedding with weights that depend only on its sizes."""
    return torch.nn.Embedding(
        num_embeddings, embedding_dim, _weight=_fixed(num_embeddings, embedding_dim)
    )


def evaluate_model_time(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a call's result and its time in milliseconds: the median of five, after a warm-up."""
    times = []
    with torch.no_grad():
        result = run()
        for _ in range(_RUNS):
            torch.dl.synchronize()  # type: ignore[attr-defined]
            start = time.perf_counter()
            result = run()
            torch.dl.synchronize()  # type: ignore[attr-defined]
            times.append(1e3 * (time.perf_counter() - start))
    return result, statistics.median(times)


def compare_with_error(
    base: torch.Tensor, other: torch.Tensor, abs_error: float = 1e-3, rel_error: float = 1e-3
) -> tuple[int, float]:
    """Return the number of elements that differ by more than both tolerances, and the largest
    difference."""
    one, two = base.detach().double().cpu(), other.detach().double().cpu()
    wrong = ~torch.isclose(one, two, rtol=rel_error, atol=abs_error, equal_nan=True)
    return int(wrong.sum()), float((one - two).abs().max()) if one.numel() else 0.0


class PathManager:
    """Placeholder for DeepGen's folders of temporary files."""

    @staticmethod
    def init(**clear: bool) -> None:
        """Do nothing: there are no temporary files."""


class DeviceInfo:
    """Devices to use."""

    @staticmethod
    def init_cuda(devices: Sequence[int]) -> None:
        """Make the first of these devices the current one.

        :raises KcgError: a device does not exist, or cannot run kernels.
        """
        for each in devices:
            dialect(each)
        if devices:
            torch.dl.set_device(devices[0])  # type: ignore[attr-defined]
