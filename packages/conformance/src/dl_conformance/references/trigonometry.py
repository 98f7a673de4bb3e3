"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float, unary
from dl_conformance.reference import Array, reference

unary(
    {
        "Sin": lambda x: np.sin(as_float(x)),
        "Cos": lambda x: np.cos(as_float(x)),
        "Tan": lambda x: np.tan(as_float(x)),
        "Asin": lambda x: np.arcsin(as_float(x)),
        "Acos": lambda x: np.arccos(as_float(x)),
        "Atan": lambda x: np.arctan(as_float(x)),
        "Sinh": lambda x: np.sinh(as_float(x)),
        "Cosh": lambda x: np.cosh(as_float(x)),
        "Asinh": lambda x: np.arcsinh(as_float(x)),
        "Acosh": lambda x: np.arccosh(as_float(x)),
        "Atanh": lambda x: np.arctanh(as_float(x)),
    }
)


@reference("dlopAtan2")
def atan2(*, y: Array, x: Array) -> dict[str, Any]:
    return {"out": np.arctan2(y, x)}
