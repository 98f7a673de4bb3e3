"""Images sampled at the positions of a grid, from -1 to 1 over the image, with zeros around it.

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
    """What the cells count, and how much an error of the position changes that."""
    distance = at - np.arange(count)
    if mode == "nearest":
        return _kernel(mode, distance), np.zeros(count)
    # No kernel is steeper than 3/2.
    return _kernel(mode, distance), (np.abs(distance) < REACH[mode]) * 1.5 * (np.abs(at) + terms)


@reference("diopiGridSample")
def grid_sample(*, input: Array, grid: Array, mode: str) -> dict[str, Any]:
    height, width = input.shape[2:]
    value = np.zeros((*input.shape[:2], *grid.shape[1:3]), input.dtype)
    size = np.zeros_like(value)
    for n, i, j in np.ndindex(grid.shape[:3]):
        lines = []
        for coordinate, count in zip(grid[n, i, j], (width, height), strict=True):
            at = ((coordinate + 1) * count - 1) / 2
            lines.append(_line(mode, at, count, (np.abs(coordinate) + 1) * count))
        (columns, columns_moved), (rows, rows_moved) = lines
        value[n, :, i, j] = input[n] @ columns @ rows
        cells, wide, high = np.abs(input[n]), np.abs(columns), np.abs(rows)
        size[n, :, i, j] = (
            cells @ wide @ high + cells @ columns_moved @ high + cells @ wide @ rows_moved
        )
    return {"out": Expected(value, POSITION + 16, size)}
