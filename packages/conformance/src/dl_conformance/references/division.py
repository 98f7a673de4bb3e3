"""Quotients and remainders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from diopi_proto.promotion import result_type
from dl_conformance.elementwise import as_float
from dl_conformance.inputs import exact, stored
from dl_conformance.reference import Array, Expected, reference


@reference("diopiDiv", "diopiDivScalar")
def div(
    *, input: Array, other: Any, rounding_mode: str, dtypes: Mapping[str, str]
) -> dict[str, Any]:
    return {"out": _quotient(input, other, rounding_mode, _common(input, other, dtypes))}


@reference("diopiDivInp", "diopiDivInpScalar")
def div_in_place(
    *, input: Array, other: Any, rounding_mode: str, dtypes: Mapping[str, str]
) -> dict[str, Any]:
    return {"input": _quotient(input, other, rounding_mode, _common(input, other, dtypes))}


def _common(input: Array, other: Any, dtypes: Mapping[str, str]) -> str:
    """Return the dtype of the quotient: scalars divide half-precision tensors in float32."""
    if isinstance(other, np.ndarray):
        divisor = (dtypes["other"], int(other.ndim == 0))
    else:
        divisor = ("float32" if isinstance(other, float) else "int64", 2)
    common = result_type([(dtypes["input"], int(input.ndim == 0)), divisor]) or dtypes["input"]
    is_half = common in ("float16", "bfloat16")
    return "float32" if is_half and not isinstance(other, np.ndarray) else common


def _quotient(input: Array, other: Any, mode: str, dtype: str) -> Any:
    divisor = np.asarray(other).astype(input.dtype)
    if mode.lower().endswith("none"):
        return as_float(input) / as_float(divisor)
    if input.dtype.kind == "f":
        return _rounded_quotient(input, divisor, mode, dtype)
    floor = input // divisor
    if mode.lower().endswith("floor"):
        return floor
    return np.where((floor < 0) & (floor * divisor != input), floor + 1, floor).astype(input.dtype)


def _rounded_quotient(a: Array, b: Array, mode: str, dtype: str) -> Array:
    """Divide with PyTorch's sequence of operations, each rounded to the dtype."""

    def rounded(value: Array) -> Array:
        return exact(stored(value, dtype), dtype, a.dtype.type)

    if mode.lower().endswith("trunc"):
        return np.asarray(np.trunc(rounded(a / b)))
    rest = np.fmod(a, b)
    quotient = rounded(rounded(a - rest) / b)
    off = (rest != 0) & ((rest < 0) != (b < 0))
    quotient = np.where(off, rounded(quotient - 1), quotient)
    whole = np.floor(quotient)
    whole = np.where(rounded(quotient - whole) > 0.5, whole + 1, whole)
    whole = np.where(quotient == 0, np.copysign(0, a / b), whole)
    return np.where(b == 0, a / b, whole)


@reference("diopiRemainderTensor", "diopiRemainderScalar", "diopiRemainder")
def remainder(*, input: Any, other: Any) -> dict[str, Any]:
    wide = input if isinstance(input, np.ndarray) else other
    left, right = np.asarray(input).astype(wide.dtype), np.asarray(other).astype(wide.dtype)
    value = np.mod(left, right)
    if wide.dtype.kind != "f":
        return {"out": value}
    finite = np.where(np.isfinite(value), np.abs(np.broadcast_to(right, value.shape)), 0)
    return {"out": Expected(value, magnitude=finite, roundings=1)}
