"""Memory layouts: the same elements with different strides and storage offsets."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from diopi_proto import Tensor, Vendor

from .inputs import Array

Shape = tuple[int, ...]


class Strided(NamedTuple):
    """A layout given by strides and storage offset, in elements."""

    strides: Shape
    offset: int = 0


CONTIGUOUS, PRESERVE = 0, 3
"""Values of ``diopiMemoryFormat_t``; all other values are channels-last formats."""
LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded", "channels-last")


def applies(layout: str, shape: Shape) -> bool:
    """Return True if the layout is possible for the shape and differs from a contiguous one."""
    if layout == "channels-last":
        return len(shape) in (4, 5)
    if layout == "transposed":
        return len(shape) >= 2
    if layout in ("strided", "expanded"):
        return len(shape) >= 1
    return True


def strides_of(layout: str, shape: Shape) -> tuple[Shape, int]:
    """Return ``(strides, offset)`` in elements; contiguous where the layout does not apply."""
    order = list(range(len(shape)))
    if layout == "transposed":
        order.reverse()
    elif layout == "channels-last" and applies(layout, shape):
        order = [0, *order[2:], 1]
    step = 2 if layout == "strided" else 1
    strides = [0] * len(shape)
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    if layout == "expanded" and shape:
        strides[0] = 0
    return tuple(strides), 3 if layout == "offset" else 0


def _is_dense(sizes: list[int], strides: list[int]) -> bool:
    """Return True if a tensor is dense; dimensions are in descending order of strides."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def in_format(memory_format: int, shape: Shape, strides: Shape) -> Shape:
    """Return the strides of a dense tensor in a memory format of the contract.

    :param strides: strides of the source tensor; the preserve format keeps their order of
        dimensions if the source is dense.
    """
    order = list(range(len(shape)))
    if memory_format == PRESERVE:
        own = sorted(order, key=lambda dim: -strides[dim])
        order = own if _is_dense([shape[x] for x in own], [strides[x] for x in own]) else order
    elif memory_format != CONTIGUOUS:
        order = [0, *order[2:], 1]
    found, step = [0] * len(shape), 1
    for dim in reversed(order):
        found[dim] = step
        step *= max(shape[dim], 1)
    return tuple(found)


def place(vendor: Vendor, elements: Array, dtype: str, layout: str | Strided) -> Tensor:
    """Create a tensor with the stored elements in a layout; "expanded" repeats dimension 0."""
    shape = elements.shape
    strides, offset = layout if isinstance(layout, Strided) else strides_of(layout, shape)
    if layout == "contiguous" or prod(shape) == 0:
        return vendor.tensor(elements, dtype=dtype)
    span = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    tensor = vendor.empty((offset + span,), dtype).as_strided(shape, strides, offset)
    tensor.copy_from(elements)
    return tensor
