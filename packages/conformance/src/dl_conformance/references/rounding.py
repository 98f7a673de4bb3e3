"""Rounding to integers."""

from __future__ import annotations

import numpy as np

from dl_conformance.elementwise import unary

unary(
    {
        "Floor": lambda x: np.floor(x) if x.dtype.kind == "f" else x,
        "dlopRound": lambda x: np.rint(x) if x.dtype.kind == "f" else x,
        "Ceil": lambda x: np.ceil(x) if x.dtype.kind == "f" else x,
    }
)
