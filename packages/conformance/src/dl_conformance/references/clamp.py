"""Clamping."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


def _limited(input: Array, low: Any, high: Any) -> Expected:
    value, tied = input, np.zeros(np.shape(input), bool)
    for bound, nearer in ((low, np.maximum), (high, np.minimum)):
        if bound is not None:
            limit = as_dtype_of(input, bound)
            tied = tied | ((value == 0) & (limit == 0))
            value = nearer(value, limit)
    return Expected(value, either_zero=tied)


@reference("diopiClamp", "diopiClampScalar")
def clamp(*, input: Array, min: Any, max: Any) -> dict[str, Any]:
    return {"out": _limited(input, min, max)}


@reference("diopiClampMax", "diopiClampMaxScalar")
def clamp_max(*, input: Array, max: Any) -> dict[str, Any]:
    return {"out": _limited(input, None, max)}


@reference("diopiClampMin", "diopiClampMinScalar")
def clamp_min(*, input: Array, min: Any) -> dict[str, Any]:
    return {"out": _limited(input, min, None)}
