"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from dl_conformance.elementwise import as_float, unary

unary(
    {
        "Exp": lambda x: np.exp(as_float(x)),
        "Expm1": lambda x: np.expm1(as_float(x)),
        "Log": lambda x: np.log(as_float(x)),
        "Log2": lambda x: np.log2(as_float(x)),
        "Log10": lambda x: np.log10(as_float(x)),
        "Log1p": lambda x: np.log1p(as_float(x)),
    }
)
