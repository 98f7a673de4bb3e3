"""Floating-point numbers among the arguments, which Dynamo passes as tensors of the host.

A model's scale is the same in each call: it is part of what a program is for. One that changes is
read anew each time, in host calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def is_number(value: object) -> bool:
    """Whether an argument is how Dynamo passes a float."""
    return (
        type(value) is torch.Tensor
        and value.device.type == "cpu"
        and value.dtype == torch.float64
        and value.layout == torch.strided
        and value.dim() == 0
    )


def value_text(value: object) -> str:
    """The number as text that is the same for NaN, too; empty: it is none."""
    return float(value.item()).hex() if is_number(value) else ""  # type: ignore[attr-defined]


def numbers_of(arguments: Sequence[Any], others: set[int]) -> dict[int, str]:
    """The numbers by their places.

    :param others: places that are not looked at.
    """
    return {
        place: value_text(value)
        for place, value in enumerate(arguments)
        if place not in others and is_number(value)
    }
