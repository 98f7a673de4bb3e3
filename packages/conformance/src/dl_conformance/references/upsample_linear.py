"""Resizing by linear and cubic interpolation, and its gradient.

Source of the cubic kernel: Keys, Cubic convolution interpolation for digital image processing, IEEE
Transactions on Acoustics, Speech and Signal Processing 29 (1981), with the parameter -3/4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

Sizes = tuple[int, ...]
Number = np.longdouble
CUBIC = Number(-0.75)


def _position(o: int, size: int, outputs: int, align: bool) -> np.longdouble:
    if align:
        return Number(o * (size - 1)) / max(outputs - 1, 1)
    return (2 * o + 1) * Number(size) / (2 * outputs) - Number(0.5)


def _cubic(distance: np.longdouble) -> np.longdouble:
    d = abs(distance)
    if d <= 1:
        return (CUBIC + 2) * d**3 - (CUBIC + 3) * d**2 + 1
    return CUBIC * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else Number(0)


def _cubic_slope(distance: np.longdouble) -> np.longdouble:
    d = abs(distance)
    if d <= 1:
        return abs(3 * (CUBIC + 2) * d**2 - 2 * (CUBIC + 3) * d)
    return abs(CUBIC * (3 * d**2 - 10 * d + 8)) if d < 2 else Number(0)


def _tent(distance: np.longdouble) -> np.longdouble:
    return max(1 - abs(distance), Number(0))


def _matrix(size: int, outputs: int, align: bool, cubic: bool) -> tuple[Array, Array]:
    """Return the weights of cells, [outputs, inputs], and the magnitudes of their terms.

    Beyond the edges, the last cell is repeated, so it may have weights of both signs. A rounding of
    the position changes a weight by its derivative.
    """
    result, sizes = np.zeros((2, outputs, size), Number)
    for o in range(outputs):
        at = _position(o, size, outputs, align)
        terms = abs(at) if align else abs(at) + 1
        for cell in range(-3, size + 3):
            weight = _cubic(at - cell) if cubic else _tent(at - cell)
            inside = min(max(cell, 0), size - 1)
            result[o, inside] += weight
            slope = _cubic_slope(at - cell) if cubic else Number(abs(at - cell) < 1)
            sizes[o, inside] += abs(weight) + slope * terms
    return result, sizes


def _matrices(sizes: Sizes, outputs: Sizes, mode: str, align: bool) -> list[tuple[Array, Array]]:
    pairs = zip(sizes, outputs, strict=True)
    return [_matrix(n, m, align, mode == "bicubic") for n, m in pairs]


def _along(x: Array, matrices: Sequence[Array]) -> Array:
    """Apply each matrix to one of the last axes."""
    first = x.ndim - len(matrices)
    for at, matrix in enumerate(matrices):
        x = np.moveaxis(np.tensordot(x, matrix, (first + at, 1)), -1, first + at)
    return x


@reference("diopiUpsampleLinear")
def upsample(*, input: Array, size: Sizes, align_corners: bool, mode: str) -> dict[str, Any]:
    pairs = _matrices(input.shape[2:], size, mode, align_corners)
    value = _along(input, [matrix for matrix, _ in pairs])
    magnitude = _along(np.abs(input), [weights for _, weights in pairs])
    taps = 4 if mode == "bicubic" else 2
    # A product and a weight for each tap.
    return {"out": Expected(value, 2 * taps ** len(size), magnitude)}


@reference("diopiUpsampleLinearBackward")
def upsample_backward(
    *, grad_output: Array, out_size: Sizes, in_size: Sizes, align_corners: bool, mode: str
) -> dict[str, Any]:
    pairs = _matrices(in_size[2:], out_size, mode, align_corners)
    value = _along(grad_output, [matrix.T for matrix, _ in pairs])
    magnitude = _along(np.abs(grad_output), [weights.T for _, weights in pairs])
    met = _along(np.ones_like(grad_output), [weights.T != 0 for _, weights in pairs])
    length = 2 * np.maximum(met, 1).astype(np.int64)
    return {"grad_input": Expected(value, length, magnitude)}
