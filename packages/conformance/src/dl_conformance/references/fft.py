"""Discrete Fourier transforms, by their definition."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

PI = 4 * np.arctan(np.longdouble(1))


def roots(length: int) -> Array:
    """Return exp(-2πi · k / length) for 0 ≤ k < length."""
    angle = 2 * PI * np.arange(length, dtype=np.longdouble) / length
    return np.asarray(np.cos(angle) - 1j * np.sin(angle))


@reference("dlopFft")
def transform(*, input: Array, dim: int, forward: bool, scale: float) -> dict[str, Any]:
    """Return the transform: sums of n terms, with one more rounding for the roots of unity."""
    rows = np.moveaxis(input, dim, -1)
    length = rows.shape[-1]
    table = roots(length) if forward else np.conj(roots(length))
    places = np.outer(np.arange(length), np.arange(length)) % max(length, 1)
    value = scale * (rows @ table[places]) if length else rows
    sizes = abs(scale) * np.sum(np.abs(rows), axis=-1, keepdims=True)
    magnitude = np.broadcast_to(sizes, rows.shape)
    return {"out": Expected(np.moveaxis(value, -1, dim), length, np.moveaxis(magnitude, -1, dim))}
