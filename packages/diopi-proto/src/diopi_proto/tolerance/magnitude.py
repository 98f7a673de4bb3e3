"""Magnitudes: the sums of absolute values that the bounds of sums are proportional to."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .formats import Array


def sum_magnitude(
    terms: ArrayLike, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """``sum(|terms|)`` along ``axis`` in float64: the magnitude of a REDUCTION."""
    wide = np.abs(np.asarray(terms)).astype(np.float64)
    return np.asarray(np.sum(wide, axis=axis, keepdims=keepdims))


def matmul_magnitude(left: ArrayLike, right: ArrayLike) -> Array:
    """``|left| @ |right|`` in float64, shapes as for ``numpy.matmul``: the magnitude of a MATMUL.

    A bias, or ``beta * c``, is added to it by the caller: ``matmul_magnitude(a, b) + abs(c)``.
    """
    wide = [np.abs(np.asarray(side)).astype(np.float64) for side in (left, right)]
    return np.asarray(np.matmul(wide[0], wide[1]))
