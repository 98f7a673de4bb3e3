"""Shapes of two operands that broadcast, and operands of such shapes."""

from __future__ import annotations

from typing import Any

from support import numbers

SHAPES = [
    ((3, 5, 17), (3, 5, 17)),
    ((3, 5, 17), (17,)),
    ((3, 5, 17), (5, 1)),
    ((3, 1, 17), (1, 5, 1)),
    ((4, 9), ()),
    ((), (4, 9)),
    ((1,), (1, 1)),
    ((0, 4), (4,)),
]


def both(dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Any, Any]:
    return numbers(left, dtype, 11, -9, 9), numbers(right, dtype, 12, -9, 9)
