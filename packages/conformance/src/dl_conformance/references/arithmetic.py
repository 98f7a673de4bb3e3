"""Elementwise addition, subtraction, multiplication, maximum and minimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


def _sum(input: Array, other: Any, alpha: Any, sign: int) -> dict[str, Any]:
    if input.dtype == bool:
        return {"out": input | (np.asarray(other, bool) & bool(alpha))}
    scaled = as_dtype_of(input, alpha) * as_dtype_of(input, other)
    value = input + scaled if sign > 0 else input - scaled
    rounded = 1 if np.any(np.asarray(alpha) != 1) else 0
    return {"out": Expected(value, magnitude=_size(input) + _size(scaled), roundings=rounded)}


def _size(values: Array) -> Array:
    return np.abs(values.astype(np.clongdouble if values.dtype.kind == "c" else np.longdouble))


@reference("diopiAdd", "diopiAddScalar")
def add(*, input: Array, other: Any, alpha: Any) -> dict[str, Any]:
    return _sum(input, other, alpha, 1)


@reference("diopiSub", "diopiSubScalar")
def sub(*, input: Array, other: Any, alpha: Any) -> dict[str, Any]:
    return _sum(input, other, alpha, -1)


@reference("diopiMul", "diopiMulScalar")
def mul(*, input: Array, other: Any) -> dict[str, Any]:
    return {"out": input * as_dtype_of(input, other)}


@reference("diopiMaximum")
def maximum(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": np.maximum(input, other)}


@reference("diopiMinimum")
def minimum(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": np.minimum(input, other)}
