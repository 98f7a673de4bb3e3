"""Quotients and remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float
from dl_conformance.reference import Array, Expected, reference


@reference("diopiDiv", "diopiDivScalar")
def div(*, input: Array, other: Any, rounding_mode: str) -> dict[str, Any]:
    return {"out": _quotient(input, other, rounding_mode)}


@reference("diopiDivInp", "diopiDivInpScalar")
def div_in_place(*, input: Array, other: Any, rounding_mode: str) -> dict[str, Any]:
    return {"input": _quotient(input, other, rounding_mode)}


def _quotient(input: Array, other: Any, mode: str) -> Any:
    divisor = np.asarray(other).astype(input.dtype)
    if mode.lower().endswith("none"):
        return as_float(input) / as_float(divisor)
    if input.dtype.kind == "f":
        whole = np.floor if mode.lower().endswith("floor") else np.trunc
        return whole(input / divisor)
    floor = input // divisor
    if mode.lower().endswith("floor"):
        return floor
    return np.where((floor < 0) & (floor * divisor != input), floor + 1, floor).astype(input.dtype)


@reference("diopiRemainderTensor", "diopiRemainderScalar", "diopiRemainder")
def remainder(*, input: Any, other: Any) -> dict[str, Any]:
    wide = input if isinstance(input, np.ndarray) else other
    left, right = np.asarray(input).astype(wide.dtype), np.asarray(other).astype(wide.dtype)
    value = np.mod(left, right)
    if wide.dtype.kind != "f":
        return {"out": value}
    finite = np.where(np.isfinite(value), np.abs(np.broadcast_to(right, value.shape)), 0)
    return {"out": Expected(value, magnitude=finite, roundings=1)}
