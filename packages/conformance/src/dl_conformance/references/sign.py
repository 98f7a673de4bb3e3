"""Signs, absolute values, negation."""

from __future__ import annotations

import numpy as np

from dl_conformance.elementwise import unary
from dl_conformance.reference import Array


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 for nan, a bool as it is."""
    if x.dtype == bool:
        return x
    return np.asarray((x > 0).astype(x.dtype) - (x < 0).astype(x.dtype))


def sgn(x: Array) -> Array:
    if x.dtype.kind != "c":
        return sign(x)
    return np.asarray(np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))))


def negative(x: Array) -> Array:
    return np.asarray(-x) if x.dtype.kind in "fc" else np.asarray(np.negative(x))


unary({"Sign": sign, "Sgn": sgn, "Abs": np.abs, "Neg": negative})
