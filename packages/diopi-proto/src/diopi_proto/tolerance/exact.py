"""Distances between integers, without the wrap-around of their own arithmetic."""

from __future__ import annotations

import numpy as np

from .formats import Array


def integer_errors(got: Array, want: Array) -> Array:
    """``|got - want|`` as float64, 0 only where equal; any two integer or bool dtypes."""
    got, want = _widen(got), _widen(want)
    left, right = got.astype(np.uint64), want.astype(np.uint64)
    distance = np.where(left >= right, left - right, right - left).astype(np.float64)
    # Of equal signs the 64-bit patterns are ordered like the numbers; of different ones they may
    # even coincide (2**64 - 1 and -1), but then float64 cannot take the difference for 0.
    across = np.abs(got.astype(np.float64) - want.astype(np.float64))
    errors: Array = np.where((got < 0) == (want < 0), distance, across)
    return errors


def _widen(values: Array) -> Array:
    return values if values.dtype == np.uint64 else values.astype(np.int64)
