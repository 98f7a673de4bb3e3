"""Norms of lists of tensors: orders, shapes and reference."""

from __future__ import annotations

import numpy as np

from support import Array

ORDERS = (0.0, 1.0, 2.0, 3.5, np.inf)
SHAPES = [(7, 40), (), (300,)]


def norm(x: Array, p: float) -> Array:
    size = np.abs(x)
    if np.isinf(p):
        return np.max(size)
    return np.sum(size != 0) if p == 0 else np.sum(size**p) ** (1 / x.dtype.type(p))
