"""Distances between integers, without overflow."""

from __future__ import annotations

import numpy as np

from .formats import Array


def integer_errors(got: Array, want: Array) -> Array:
    """Return ``|got - want|`` as float64 for any integer or bool dtypes; 0 only if equal."""
    got, want = _widen(got), _widen(want)
    left, right = got.astype(np.uint64), want.astype(np.uint64)
    distance = np.where(left >= right, left - right, right - left).astype(np.float64)
    # For equal signs, the 64-bit patterns are ordered like the numbers. For different signs, they
    # may even be equal (2**64 - 1 and -1), but then the difference in float64 is not 0.
    across = np.abs(got.astype(np.float64) - want.astype(np.float64))
    errors: Array = np.where((got < 0) == (want < 0), distance, across)
    return errors


def _widen(values: Array) -> Array:
    return values if values.dtype == np.uint64 else values.astype(np.int64)
