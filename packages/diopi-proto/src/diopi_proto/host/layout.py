"""Shapes and strides, counted in elements."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import prod

Shape = tuple[int, ...]

_MOST = (1 << 63) - 1
"""Limit of the interface's integers and of the address space in bytes."""


def integers(values: Iterable[object]) -> Shape:
    """Return sizes or strides as a tuple of integers.

    :raises ValueError: a size is not an integer, or does not fit in 64 bits.
    """
    try:
        numbers = tuple(operator.index(value) for value in values)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"sizes and strides must be integers, not a {_kind(values)}") from None
    if any(not -_MOST <= number <= _MOST for number in numbers):
        raise ValueError("a size or stride does not fit in 64 bits")
    return numbers


def _kind(values: object) -> str:
    if isinstance(values, list | tuple):
        return f"{type(values).__name__} of {', '.join({type(x).__name__ for x in values})}"
    return type(values).__name__


def bytes_of(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Return the bytes that a layout spans.

    :raises MemoryError: it exceeds the address space.
    """
    count = span(shape, strides) * itemsize
    if count > _MOST:
        raise MemoryError(f"shape {shape} and strides {strides} take {count} bytes")
    return count


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Return dense row-major strides; a dimension of size 0 counts as 1."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return True for dense row-major strides. Strides of dimensions of size 1 are ignored."""
    if prod(shape) == 0:
        return True
    usual = contiguous_strides(shape)
    return all(
        size == 1 or stride == right
        for size, stride, right in zip(shape, strides, usual, strict=True)
    )


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last one, inclusive; 0 if empty."""
    if prod(shape) == 0:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def check_layout(shape: Shape, strides: Shape, offset: int = 0) -> None:
    """Check a layout.

    :raises ValueError: lengths differ, or a value is negative.
    """
    if len(shape) != len(strides):
        raise ValueError(f"shape {shape} and strides {strides} have different lengths")
    if any(value < 0 for value in (*shape, *strides, offset)):
        raise ValueError(
            f"shape {shape}, strides {strides} and offset {offset} must not be negative"
        )
