"""The same elements with other strides and offsets."""

from __future__ import annotations

from math import prod

from diopi_proto import Tensor, Vendor

from .inputs import Array

Shape = tuple[int, ...]

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded", "channels-last")


def applies(layout: str, shape: Shape) -> bool:
    """Whether a tensor of the shape can have the layout and differs from a contiguous one then."""
    if layout == "channels-last":
        return len(shape) in (4, 5)
    if layout == "transposed":
        return len(shape) >= 2
    if layout in ("strided", "expanded"):
        return len(shape) >= 1
    return True


def strides_of(layout: str, shape: Shape) -> tuple[Shape, int]:
    """``(strides, offset)`` in elements; contiguous ones where the layout does not apply."""
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


def place(vendor: Vendor, elements: Array, dtype: str, layout: str) -> Tensor:
    """A tensor with the stored elements; where it is expanded, they repeat along dimension 0."""
    shape = elements.shape
    strides, offset = strides_of(layout, shape)
    if layout == "contiguous" or prod(shape) == 0:
        return vendor.tensor(elements, dtype=dtype)
    span = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    tensor = vendor.empty((offset + span,), dtype).as_strided(shape, strides, offset)
    tensor.copy_from(elements)
    return tensor
