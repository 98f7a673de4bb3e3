"""One call of a function of the library, and its expected results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Array = Any


class Out:
    """An output, with the shape and dtype of the next expected result."""


@dataclass
class Ref:
    """A tensor that the function reads and writes."""

    value: Array


@dataclass
class Case:
    """A call: arrays stand for tensors; results are in the order of `Out` and `Ref`."""

    name: str
    arguments: Sequence[Any]
    expected: Sequence[Array]
    tolerance: float = 2e-5


OUT = Out()
_random = np.random.default_rng(7)


def real(*shape: int) -> Array:
    """Return normally distributed float32 numbers."""
    return _random.standard_normal(shape).astype("float32")


def positive(*shape: int) -> Array:
    """Return float32 numbers in [0.2, 0.9]."""
    return (_random.random(shape) * 0.7 + 0.2).astype("float32")


def whole(high: int, *shape: int, low: int = 0) -> Array:
    """Return int64 numbers in [low, high)."""
    return _random.integers(low, high, shape)


def booleans(*shape: int) -> Array:
    """Return booleans."""
    return _random.random(shape) < 0.5


def t(value: Array) -> torch.Tensor:
    """Return a copy as a torch tensor."""
    return torch.from_numpy(np.array(value))


def case(name: str, arguments: Sequence[Any], *expected: Any, tolerance: float = 2e-5) -> Case:
    """Return a case; expected results may be tensors of torch."""
    arrays = [
        x.detach().contiguous().numpy() if isinstance(x, torch.Tensor) else x for x in expected
    ]
    return Case(f"aclnn{name}", arguments, arrays, tolerance)
