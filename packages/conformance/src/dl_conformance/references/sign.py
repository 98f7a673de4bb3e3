"""Signs, absolute values, negation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import unary
from dl_conformance.reference import Array, Expected, reference


def sign(x: Array) -> Array:
    """Return -1, 0 or 1; 0 for NaN; bools unchanged."""
    if x.dtype == bool:
        return x
    return np.asarray((x > 0).astype(x.dtype) - (x < 0).astype(x.dtype))


def sgn(x: Array) -> Array:
    if x.dtype.kind != "c":
        return sign(x)
    return np.asarray(np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))))


def negative(x: Array) -> Array:
    return np.asarray(-x) if x.dtype.kind in "fc" else np.asarray(np.negative(x))


@reference("diopiAbs")
def absolute(*, input: Array) -> dict[str, Any]:
    value = np.abs(input)
    # The modulus of a complex number is a rounded root; real ones only lose the sign bit.
    return {"out": Expected(value, op_class="elementary") if input.dtype.kind == "c" else value}


unary({"Sign": sign, "Sgn": sgn, "Neg": negative})
