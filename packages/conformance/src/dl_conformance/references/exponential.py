"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from dl_conformance.elementwise import as_float, unary
from dl_conformance.reference import Array


def log1p(x: Array) -> Array:
    """Return log1p; NumPy adds 1 to complex numbers, so that small numbers are lost."""
    if x.dtype.kind != "c":
        return np.asarray(np.log1p(x))
    sum_with_1 = np.array(x)  # 1 + x would lose the sign of an imaginary zero
    sum_with_1.real += 1
    logarithm = np.array(np.log(sum_with_1))
    size = np.log1p(x.real * (2 + x.real) + x.imag**2) / 2
    logarithm.real = np.where(np.abs(x) < 0.5, size, logarithm.real)
    return logarithm


unary(
    {
        "Exp": lambda x: np.exp(as_float(x)),
        "Expm1": lambda x: np.expm1(as_float(x)),
        "Log": lambda x: np.log(as_float(x)),
        "Log2": lambda x: np.log2(as_float(x)),
        "Log10": lambda x: np.log10(as_float(x)),
        "Log1p": lambda x: log1p(as_float(x)),
    }
)
