"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiPolar")
def polar(*, abs: Array, angle: Array) -> dict[str, Any]:
    value = abs * np.cos(angle) + 1j * (abs * np.sin(angle))
    # Each part is a function value, then a product.
    return {"out": Expected(value, roundings=1)}


@reference("diopiComplex")
def join(*, real: Array, imag: Array) -> dict[str, Any]:
    value = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.clongdouble)
    value.real, value.imag = real, imag
    return {"out": value}


@reference("diopiConj")
def conj(*, input: Array) -> dict[str, Any]:
    return {"out": np.conj(input) if input.dtype.kind == "c" else input}


@reference("diopiReal")
def real(*, input: Array) -> dict[str, Any]:
    return {"out": np.real(input)}


@reference("diopiImag")
def imag(*, input: Array) -> dict[str, Any]:
    return {"out": np.imag(input)}
