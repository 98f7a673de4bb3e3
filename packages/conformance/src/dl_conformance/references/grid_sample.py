"""Sampling of images and volumes at normalized grid positions, with zero padding.

Source of the cubic kernel: Keys, Cubic convolution interpolation for digital image processing, IEEE
Transactions on Acoustics, Speech and Signal Processing 29 (1981), with the parameter -3/4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.sampling import POSITION

REACH = {"bilinear": 1, "nearest": 0.5, "bicubic": 2}


def _cubic(distance: Array) -> Array:
    t, a = np.abs(distance), -0.75
    inner = np.polyval([a + 2, -(a + 3), 0, 1], t)
    outer = np.polyval([a, -5 * a, 8 * a, -4 * a], t)
    return np.asarray(np.where(t <= 1, inner, np.where(t < 2, outer, 0)))


def _kernel(mode: str, distance: Array) -> Array:
    if mode == "bicubic":
        return _cubic(distance)
    size = np.abs(distance)
    return np.asarray(np.maximum(0, 1 - size) if mode == "bilinear" else (size < 0.5) * 1.0)


def _line(mode: str, at: Any, count: int, terms: Any) -> tuple[Array, Array]:
    """Return the interpolation weights, and the effect of an error of the position on them."""
    distance = at - np.arange(count)
    if mode == "nearest":
        return _kernel(mode, distance), np.zeros(count)
    # The derivative of every kernel is at most 3/2.
    return _kernel(mode, distance), (np.abs(distance) < REACH[mode]) * 1.5 * (np.abs(at) + terms)


def _sum(cells: Array, lines: list[Array]) -> Array:
    """Combine the cells with the weights of all axes; as in a grid, the last axis is first."""
    for line in lines:
        cells = cells @ line
    return cells


@reference("diopiGridSample")
def grid_sample(*, input: Array, grid: Array, mode: str) -> dict[str, Any]:
    value = np.zeros((*input.shape[:2], *grid.shape[1:-1]), input.dtype)
    size = np.zeros_like(value)
    for n, *place in np.ndindex(grid.shape[:-1]):
        lines = []
        for coordinate, count in zip(grid[(n, *place)], input.shape[:1:-1], strict=True):
            at = ((coordinate + 1) * count - 1) / 2
            lines.append(_line(mode, at, count, (np.abs(coordinate) + 1) * count))
        to = (n, slice(None), *place)
        value[to] = _sum(input[n], [counts for counts, _ in lines])
        cells, sizes = np.abs(input[n]), [np.abs(counts) for counts, _ in lines]
        size[to] = _sum(cells, sizes)
        for axis, (_, moved) in enumerate(lines):
            size[to] += _sum(cells, [*sizes[:axis], moved, *sizes[axis + 1 :]])
    return {"out": Expected(value, POSITION + 16, size)}
