"""Host scalars among the arguments, which are CPU tensors.

Dynamo passes floats as CPU tensors. AOTAutograd saves values computed from them, such as a scale in
float32, for the backward graph.

A model's scale is the same in each call. It becomes a constant of the program, rounded to its dtype
as in eager mode. A scalar that changes is read in each call, by host calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def is_number(value: object) -> bool:
    """Return True if an argument is a host scalar: a CPU tensor without dimensions."""
    return (
        type(value) is torch.Tensor
        and value.device.type == "cpu"
        and value.layout == torch.strided
        and value.dim() == 0
    )


def is_nested_int(value: object) -> bool:
    """Return True for the symbolic length of a jagged dimension, which has no value."""
    return isinstance(value, torch.SymInt) and value.node.is_nested_int()


def value_text(value: object) -> str:
    """Return the scalar as text, in which NaN equals NaN; empty if it is not a scalar."""
    if not is_number(value):
        return ""
    number = value.item()  # type: ignore[attr-defined]
    return number.hex() if isinstance(number, float) else repr(number)


def numbers_of(arguments: Sequence[Any], others: set[int]) -> dict[int, str]:
    """Return the scalars by argument index.

    :param others: indices of arguments to skip.
    """
    return {
        place: value_text(value)
        for place, value in enumerate(arguments)
        if place not in others and is_number(value)
    }
