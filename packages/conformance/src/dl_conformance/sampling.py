"""Samples of planes between their cells: a plane is the sum of tents over its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .reference import Array, Expected

POSITION = 8
"""Roundings of a position, of its weights, and of the products with them."""


def tents(at: Any, size: int) -> Array:
    """How much each cell of a line counts at a position."""
    return np.asarray(np.maximum(0, 1 - np.abs(at - np.arange(size))), np.longdouble)


def slopes(at: Any, size: int) -> Array:
    """The derivative of that with respect to the position, off the cells."""
    cells = np.arange(size)
    near = np.abs(at - cells) < 1
    return np.asarray(np.where(near, np.sign(cells - at), 0)).astype(np.longdouble)


@dataclass(frozen=True)
class Weights:
    """What the cells of a plane count at a place.

    :ivar value: [H, W].
    :ivar size: the same and what an error of the position adds, which is relative to the numbers
        that the position is a sum of.
    """

    value: Array
    size: Array


def weights(
    y: Any, x: Any, shape: tuple[int, int], of_y: Any = 0, of_x: Any = 0, share: Any = 1
) -> Weights:
    """Between the cells of a plane of this shape, with zeros around it.

    :param of_y: the sum of the absolute values of what ``y`` is made of.
    """
    lines = []
    for at, count, terms in ((y, shape[0], of_y), (x, shape[1], of_x)):
        line = tents(at, count)
        moved = (np.abs(at - np.arange(count)) < 1) * (np.abs(at) + terms)
        lines.append((line, moved))
    (rows, rows_moved), (columns, columns_moved) = lines
    value = np.outer(rows, columns)
    size = value + np.outer(rows_moved, columns) + np.outer(rows, columns_moved)
    return Weights(value * share, size * np.abs(share))


def bordered(
    y: Any, x: Any, shape: tuple[int, int], of_y: Any = 0, of_x: Any = 0, share: Any = 1
) -> Weights:
    """The border goes on for one cell; beyond that there are zeros."""
    height, width = shape
    if not (-1 <= y <= height and -1 <= x <= width):
        nothing = np.zeros(shape, np.longdouble)
        return Weights(nothing, nothing)
    inside = (min(max(y, 0), height - 1), min(max(x, 0), width - 1))
    return weights(*inside, shape, of_y + np.abs(y), of_x + np.abs(x), share)


class Sampled:
    """Sums of samples, with the sizes of their terms."""

    def __init__(self, shape: tuple[int, ...], before: Array | None = None) -> None:
        start = np.zeros(shape, np.longdouble) if before is None else before
        self.value, self.size = start.copy(), np.abs(start)
        self.count = np.full(shape, POSITION, np.int64)

    def take(self, at: Any, planes: Array, taken: Weights) -> None:
        """Add a sample of planes [..., H, W] to the elements there."""
        self.value[at] += np.einsum("...hw,hw->...", planes, taken.value)
        self.size[at] += np.einsum("...hw,hw->...", np.abs(planes), taken.size)
        self.count[at] += 4

    def give(self, at: Any, grads: Any, taken: Weights) -> None:
        """Add to the planes there what the gradients of a sample are for them."""
        self.value[at] += np.multiply.outer(grads, taken.value)
        self.size[at] += np.multiply.outer(np.abs(grads), taken.size)
        self.count[at] += taken.size != 0

    def expected(self, op_class: str | None = None) -> Expected:
        return Expected(self.value, self.count, self.size, op_class=op_class)
