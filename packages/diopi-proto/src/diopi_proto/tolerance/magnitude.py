"""Magnitudes: sums of absolute values, to which the bounds of sums are proportional."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .formats import Array


def sum_magnitude(
    terms: ArrayLike, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """Return the magnitude of a REDUCTION: ``sum(|terms|)`` along ``axis`` in float64."""
    wide = np.abs(np.asarray(terms)).astype(np.float64)
    return np.asarray(np.sum(wide, axis=axis, keepdims=keepdims))


def matmul_magnitude(left: ArrayLike, right: ArrayLike) -> Array:
    """Return the magnitude of a MATMUL: ``|left| @ |right|`` in float64.

    Shapes are as for ``numpy.matmul``. The caller adds a bias, or ``beta * c``:
    ``matmul_magnitude(a, b) + abs(c)``.
    """
    wide = [np.abs(np.asarray(side)).astype(np.float64) for side in (left, right)]
    return np.asarray(np.matmul(wide[0], wide[1]))
