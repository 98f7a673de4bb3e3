"""Normalization over any axes in numpy, and its gradient."""

from __future__ import annotations

import numpy as np

from support import Array, Exact


def normalised(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> tuple[Array, Array, Array]:
    """Return the normalized elements, the mean, and the reciprocal standard deviation."""
    mean = x.mean(axis=axes, keepdims=True)
    invstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + Exact(eps))
    return (x - mean) * invstd, mean, invstd


def norm_gradient(g: Array, hat: Array, invstd: Array, axes: tuple[int, ...]) -> Array:
    return invstd * (
        g - g.mean(axis=axes, keepdims=True) - hat * (g * hat).mean(axis=axes, keepdims=True)
    )
