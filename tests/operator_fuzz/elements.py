"""The elements in which two outcomes differ, for the predicates of causes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from diopi_proto.tolerance.torch_operators.comparison import same_elements, to_host
from dl_torch_tests.opinfo.sweep import tensors_of

from .judge import Difference


@dataclass(frozen=True)
class Pair:
    """One tensor of both outcomes, on the host, and the mask of differing elements."""

    got: torch.Tensor
    cpu: torch.Tensor
    differ: torch.Tensor

    def all(self, condition: torch.Tensor) -> bool:
        """Return True if the condition holds at every element that differs."""
        return bool(condition.expand(self.differ.shape)[self.differ].all())


def differing(difference: Difference) -> Iterator[Pair]:
    """Yield the tensors of results and arguments that have differing elements."""
    for got, cpu in zip(difference.got.values(), difference.cpu.values(), strict=True):
        if not isinstance(cpu, torch.Tensor) or got.shape != cpu.shape:
            continue
        left, right = to_host(got), to_host(cpu)
        differ = ~same_elements(left, right) & ~_near(left, right)
        if bool(differ.any()):
            yield Pair(left, right, differ)


def _near(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return a mask of finite elements that differ only by rounding, which needs no cause."""
    if left.dtype != right.dtype or not (left.is_floating_point() or left.is_complex()):
        return torch.zeros(left.shape, dtype=torch.bool)
    eps = torch.finfo(left.dtype).eps
    wide = torch.complex128 if left.is_complex() else torch.float64
    got, cpu = left.to(wide), right.to(wide)
    finite = got.isfinite() & cpu.isfinite()
    sizes = torch.where(finite, cpu.abs(), 0)
    largest = sizes.max() if sizes.numel() else 0
    smallest = torch.finfo(left.dtype).smallest_normal
    return finite & ((got - cpu).abs() <= eps * (256 * sizes + 16 * largest + 4 * smallest))


def inputs(difference: Difference) -> list[torch.Tensor]:
    """Return the floating-point and complex tensors among the arguments as they were."""
    found = tensors_of(difference.call.arguments)
    return [to_host(x) for x in found if x.dtype.is_floating_point or x.dtype.is_complex]


def has_infinite_or_nan_input(difference: Difference) -> bool:
    return any(not bool(x.isfinite().all()) for x in inputs(difference))


def infinite_or_nan(pair: Pair) -> bool:
    """Return True if one side is not finite at every element that differs."""
    return pair.all(~pair.got.isfinite() | ~pair.cpu.isfinite())
