"""Layers with fixed weights, from which two equal models are built, and their comparison."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .gemm import toolchain

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
    """Numbers that depend on the shape alone, and differ from each other: where all weights are
    one constant, a product that mixes up its columns is right.
    """
    generator = torch.Generator().manual_seed(hash(shape) % 2**31)
    drawn = torch.randn(shape, generator=generator)
    return drawn.mul_(shape[-1] ** -0.5)


class CustomLinear(torch.nn.Module):
    """A linear layer by a product of one's choice, with weights that its sizes determine.

    :param f_mm: computes (..., in_features) by (in_features, out_features).
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
        """The product, and the bias."""
        product = self.f_mm(x, self.weight)
        return product if self.bias is None else product + self.bias


def create_fixed_embedding(num_embeddings: int, embedding_dim: int) -> torch.nn.Embedding:
    """An embedding with weights that its sizes determine."""
    return torch.nn.Embedding(
        num_embeddings, embedding_dim, _weight=_fixed(num_embeddings, embedding_dim)
    )


def evaluate_model_time(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a call's result and its milliseconds: the median of five, after a first call."""
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
    """How many elements differ by more than both errors allow, and the largest difference."""
    one, two = base.detach().double().cpu(), other.detach().double().cpu()
    wrong = ~torch.isclose(one, two, rtol=rel_error, atol=abs_error, equal_nan=True)
    return int(wrong.sum()), float((one - two).abs().max()) if one.numel() else 0.0


class PathManager:
    """Folders of temporary files, of which there are none here."""

    @staticmethod
    def init(**clear: bool) -> None:
        """Nothing has to be made, and nothing is cleared."""


class DeviceInfo:
    """Devices to use."""

    @staticmethod
    def init_cuda(devices: Sequence[int]) -> None:
        """Check that these devices can be used.

        :raises KcgError: one is not there, or runs no kernels.
        """
        for each in devices:
            toolchain(each)
