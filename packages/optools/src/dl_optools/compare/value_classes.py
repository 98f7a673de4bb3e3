"""Classes of argument values: a call whose values are of a new class is worth a comparison.

Faults that depend on values (a branch for large arguments, a swallowed nan) appear at the first
value of their class.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import torch

TENSORS = 4
"""Maximum number of examined tensors of a call: lists of parameters have hundreds."""
_OCTAVES = 2
"""Powers of two that form one size class."""


def value_class(tensors: Sequence[torch.Tensor]) -> Hashable:
    """Return size and sign of each tensor's smallest and largest value, or that it has nan.

    Transfers two scalars per tensor from its device.
    """
    return tuple([_of(each.detach()) for each in tensors[:TENSORS]])


def _of(tensor: torch.Tensor) -> Hashable:
    counts = tensor.dtype is not torch.bool and not tensor.is_complex()
    if not counts or tensor.layout != torch.strided or not tensor.numel():
        return None
    try:
        least, largest = torch.stack(tensor.aminmax()).tolist()
    except RuntimeError:
        # Devices and dtypes without this operator: all values are of one class.
        return None
    return _size(float(least)), _size(float(largest))


def _size(value: float) -> Hashable:
    if not math.isfinite(value) or value == 0:
        # As text, because nan is not equal to itself.
        return str(value + 0.0)
    return value > 0, math.frexp(value)[1] // _OCTAVES
