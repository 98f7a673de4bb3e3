"""Pooling over any number of dimensions in numpy, by definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diopi_proto import Tensor, Vendor
from support import Array, Exact, exact, place, stored


@dataclass(frozen=True)
class Line:
    """Windows along one axis: the cells of each, and their number including padding."""

    size: int
    cells: tuple[tuple[int, ...], ...]
    padded: tuple[int, ...]

    @classmethod
    def sliding(
        cls,
        size: int,
        kernel: int,
        stride: int,
        padding: int,
        dilation: int = 1,
        ceil: bool = False,
    ) -> Line:
        reach = dilation * (kernel - 1)
        starts = list(range(-padding, size + padding - reach, stride))
        # One more window for remaining cells, if it begins before the right padding.
        after = starts[-1] + stride
        if ceil and starts[-1] + reach < size + padding - 1 and after < size:
            starts.append(after)
        windows = [range(s, s + reach + 1, dilation) for s in starts]
        return cls(
            size,
            tuple(tuple(i for i in window if 0 <= i < size) for window in windows),
            tuple(len([i for i in window if i < size + padding]) for window in windows),
        )

    @classmethod
    def adaptive(cls, size: int, outputs: int) -> Line:
        cells = tuple(
            tuple(
                i
                for i in range(size)
                if (i + 1) * outputs > o * size and i * outputs < (o + 1) * size
            )
            for o in range(outputs)
        )
        return cls(size, cells, tuple(map(len, cells)))

    def matrix(self) -> Array:
        """Return [outputs, inputs]: 1 if the window has the cell."""
        rows = [[i in window for i in range(self.size)] for window in self.cells]
        return np.array(rows).reshape(len(self.cells), self.size).astype(Exact)


Lines = Sequence[Line]


def sizes_of(lines: Lines) -> tuple[int, ...]:
    return tuple(len(line.cells) for line in lines)


def largest(x: Array, lines: Lines) -> tuple[Array, Array]:
    """Return the first maximum of each window, and its position among all cells."""
    lead = x.shape[: x.ndim - len(lines)]
    flat = x.reshape(*lead, -1)
    numbers = np.arange(flat.shape[-1]).reshape([line.size for line in lines])
    values = np.zeros((*lead, *sizes_of(lines)), x.dtype)
    where = np.zeros(values.shape, np.int64)
    for at in np.ndindex(*sizes_of(lines)):
        places = numbers[
            np.ix_(*(line.cells[o] for line, o in zip(lines, at, strict=True)))
        ].ravel()
        best = places[flat[..., places].argmax(axis=-1)]
        where[(..., *at)] = best
        values[(..., *at)] = np.take_along_axis(flat, best[..., None], -1)[..., 0]
    return values, where


def scattered(grad: Array, where: Array, cells: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Scatter gradients to the maxima; also return sums of magnitudes and counts for each cell."""
    lead = grad.shape[: grad.ndim - len(cells)]
    count = int(np.prod(cells))
    results = [np.zeros((*lead, count), Exact) for _ in range(3)]
    for at in np.ndindex(*lead):
        to, each = where[at].ravel(), grad[at].ravel()
        for result, added in zip(results, (each, np.abs(each), np.ones_like(each)), strict=True):
            np.add.at(result[at], to, added)
    total, size, met = (result.reshape(*lead, *cells) for result in results)
    return total, size, np.maximum(met, 1).astype(np.int64)


def along(x: Array, matrices: Sequence[Array]) -> Array:
    """Apply each matrix along one of the last axes."""
    first = x.ndim - len(matrices)
    for i, matrix in enumerate(matrices):
        x = np.moveaxis(np.tensordot(x, matrix, (first + i, 1)), -1, first + i)
    return x


def counts(lines: Lines, include: bool = False, divisor: int | None = None) -> Array:
    """Return the divisor of each window's sum."""
    result = np.ones(sizes_of(lines), Exact)
    if divisor is not None:
        return result * divisor
    for at in np.ndindex(*result.shape):
        pairs = zip(lines, at, strict=True)
        result[at] = np.prod(
            [line.padded[o] if include else len(line.cells[o]) for line, o in pairs]
        )
    return result


def means(x: Array, lines: Lines, divisors: Array) -> tuple[Array, Array, Array]:
    """Return the mean of each window, the mean of absolute values, and the number of its cells."""
    matrices = [line.matrix() for line in lines]
    lengths = along(np.ones([line.size for line in lines], Exact), matrices)
    return (
        along(x, matrices) / divisors,
        along(np.abs(x), matrices) / np.abs(divisors),
        np.broadcast_to(lengths, (*x.shape[: x.ndim - len(lines)], *lengths.shape)).astype(
            np.int64
        ),
    )


def spread(grad: Array, lines: Lines, divisors: Array) -> tuple[Array, Array, Array]:
    """Return the gradient of :func:`means`, that of absolute values, and the number of windows of a
    cell."""
    matrices = [line.matrix().T for line in lines]
    lengths = along(np.ones(sizes_of(lines), Exact), matrices)
    lead = grad.shape[: grad.ndim - len(lines)]
    return (
        along(grad / divisors, matrices),
        along(np.abs(grad / divisors), matrices),
        np.broadcast_to(np.maximum(lengths, 1), (*lead, *lengths.shape)).astype(np.int64),
    )


# kernel, stride, padding, dilation, ceil_mode
PLANE = (9, 8)
PLANE_WINDOWS: list[tuple[Any, ...]] = [
    ((2, 2), (2, 2), (0, 0), (1, 1), False),
    ((3, 2), (2, 1), (1, 0), (1, 1), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), True),
    ((2, 2), (1, 1), (0, 0), (2, 3), False),
]
VOLUME = (5, 6, 7)
VOLUME_WINDOWS: list[tuple[Any, ...]] = [
    ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False),
    ((1, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), False),
    # A last window that would begin in the padding, and one that reaches beyond it.
    ((2, 3, 3), (2, 3, 2), (1, 1, 1), (1, 1, 1), True),
    ((2, 2, 2), (1, 3, 2), (0, 1, 1), (2, 1, 3), True),
    ((5, 6, 7), (1, 1, 1), (0, 0, 0), (1, 1, 1), False),
]
# input, output
PLANE_CUTS = [(PLANE, (1, 1)), (PLANE, (3, 5)), (PLANE, (9, 8)), (PLANE, (12, 2))]
VOLUME_CUTS = [
    (VOLUME, (1, 1, 1)),
    (VOLUME, (2, 3, 4)),
    (VOLUME, (5, 6, 7)),
    (VOLUME, (8, 4, 9)),
]


def sliding(window: tuple[Any, ...], sizes: tuple[int, ...]) -> list[Line]:
    """Return the lines of one of the windows above."""
    *lists, ceil = window
    return [Line.sliding(*each, ceil) for each in zip(sizes, *lists, strict=True)]


def adaptive(sizes: tuple[int, ...], outputs: tuple[int, ...]) -> list[Line]:
    """Return the lines of one of the adaptive sizes above."""
    return [Line.adaptive(*each) for each in zip(sizes, outputs, strict=True)]


CHANNELS = "channels"
"""The channels-last layout, for which the kernels have separate code."""
IMAGE_LAYOUTS = ("dense", "transposed", "sliced", CHANNELS)


def place_image(vendor: Vendor, array: Array, dtype: str, layout: str) -> tuple[Tensor, Array]:
    """Like :func:`support.place`, with one more layout."""
    if layout != CHANNELS:
        return place(vendor, array, dtype, layout)
    bits = stored(array, dtype)
    inside = np.moveaxis(np.ascontiguousarray(np.moveaxis(bits, 1, -1)), -1, 1)
    return vendor.tensor(inside, dtype=dtype), exact(bits, dtype)


def out_image(vendor: Vendor, shape: tuple[int, ...], dtype: str, layout: str) -> Tensor:
    """Like :func:`support.out_like`, with one more layout."""
    return place_image(vendor, np.full(shape, 77, np.float64), dtype, layout)[0]
