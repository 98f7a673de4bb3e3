"""The error function, its inverse, and the logarithm of the gamma function."""

from __future__ import annotations

import numpy as np

from dl_conformance.elementwise import as_float, erf, erfc, lgamma, unary
from dl_conformance.reference import Array

HALF_ROOT_PI = np.sqrt(np.longdouble("3.14159265358979323846264338327950288420")) / 2
STEPS = 60


def erfinv(x: Array) -> Array:
    """Newton's method, in the tails on the complement, whose errors are relative to it."""
    size = np.abs(x)
    inside = np.where(size < 1, size, 0)
    y = np.zeros_like(inside)
    for _ in range(STEPS):
        # Steps from 0 stay below the root, for the function is concave there.
        off = np.where(inside < 0.5, erf(y) - inside, (1 - inside) - erfc(y))
        y = y - HALF_ROOT_PI * off * np.exp(y * y)
    # Where float64 has too few digits of the error function: its series.
    small = HALF_ROOT_PI * inside * (1 + HALF_ROOT_PI**2 * inside**2 / 3)
    value = np.sign(x) * np.where(inside < 1e-5, small, y)
    return np.asarray(np.where(size < 1, value, np.where(size == 1, x * np.inf, np.nan)))


unary(
    {
        "Erf": lambda x: erf(as_float(x)),
        "Erfinv": lambda x: erfinv(as_float(x)),
        "dlopLgamma": lambda x: lgamma(as_float(x)),
    }
)
