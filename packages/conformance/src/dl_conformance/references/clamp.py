"""Limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, reference


def _limited(input: Array, low: Any, high: Any) -> Array:
    value = input
    if low is not None:
        value = np.maximum(value, as_dtype_of(input, low))
    if high is not None:
        value = np.minimum(value, as_dtype_of(input, high))
    return value


@reference("diopiClamp", "diopiClampScalar")
def clamp(*, input: Array, min: Any, max: Any) -> dict[str, Any]:
    return {"out": _limited(input, min, max)}


@reference("diopiClampMax", "diopiClampMaxScalar")
def clamp_max(*, input: Array, max: Any) -> dict[str, Any]:
    return {"out": _limited(input, None, max)}


@reference("diopiClampMin", "diopiClampMinScalar")
def clamp_min(*, input: Array, min: Any) -> dict[str, Any]:
    return {"out": _limited(input, min, None)}
