"""Bilinear sampling of planes: a plane is the sum of tent functions over its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .reference import Array, Expected

POSITION = 8
"""Roundings of a position, of its weights, and of the products with the weights."""


def tents(at: Any, size: int) -> Array:
    """Return the interpolation weight of each cell of a line at a position."""
    return np.asarray(np.maximum(0, 1 - np.abs(at - np.arange(size))), np.longdouble)


def slopes(at: Any, size: int) -> Array:
    """Return the derivatives of the weights with respect to a position between cells."""
    cells = np.arange(size)
    near = np.abs(at - cells) < 1
    return np.asarray(np.where(near, np.sign(cells - at), 0)).astype(np.longdouble)


@dataclass(frozen=True)
class Weights:
    """Interpolation weights of the cells of a plane at a position.

    :ivar value: weights, [H, W].
    :ivar size: weights plus the effect of an error of the position, which is relative to the
        magnitudes of its terms.
    """

    value: Array
    size: Array


def weights(
    y: Any, x: Any, shape: tuple[int, int], of_y: Any = 0, of_x: Any = 0, share: Any = 1
) -> Weights:
    """Return the weights at a position of a plane that is surrounded by zeros.

    :param of_y: sum of the absolute values of the terms of ``y``.
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
    """Return the weights at a position; the border extends by one cell, with zeros beyond it."""
    height, width = shape
    if not (-1 <= y <= height and -1 <= x <= width):
        nothing = np.zeros(shape, np.longdouble)
        return Weights(nothing, nothing)
    inside = (min(max(y, 0), height - 1), min(max(x, 0), width - 1))
    return weights(*inside, shape, of_y + np.abs(y), of_x + np.abs(x), share)


class Sampled:
    """Accumulator of samples, with the magnitudes of their terms."""

    def __init__(self, shape: tuple[int, ...], before: Array | None = None) -> None:
        start = np.zeros(shape, np.longdouble) if before is None else before
        self.value, self.size = start.copy(), np.abs(start)
        self.count = np.full(shape, POSITION, np.int64)

    def take(self, at: Any, planes: Array, taken: Weights) -> None:
        """Add a sample of planes [..., H, W] to the elements at an index."""
        self.value[at] += np.einsum("...hw,hw->...", planes, taken.value)
        self.size[at] += np.einsum("...hw,hw->...", np.abs(planes), taken.size)
        self.count[at] += 4

    def give(self, at: Any, grads: Any, taken: Weights) -> None:
        """Add the gradients of a sample to the planes at an index."""
        self.value[at] += np.multiply.outer(grads, taken.value)
        self.size[at] += np.multiply.outer(np.abs(grads), taken.size)
        self.count[at] += taken.size != 0

    def expected(self, op_class: str | None = None) -> Expected:
        return Expected(self.value, self.count, self.size, op_class=op_class)
