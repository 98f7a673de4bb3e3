"""Helpers for references of elementwise operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .reference import Array, Compute, reference


def as_dtype_of(input: Array, value: Any) -> Array:
    """Convert a number or an array to the dtype in which the input is computed."""
    return np.asarray(value).astype(input.dtype)


def as_float(input: Array) -> Array:
    """Convert the input to a wide floating-point dtype; integers and bools go through float32."""
    return input if input.dtype.kind in "fc" else input.astype(np.float32).astype(np.longdouble)


def unary(functions: dict[str, Callable[[Array], Array]]) -> None:
    """Declare references of operators ``(out, input)``, by name without ``diopi``."""
    for name, function in functions.items():
        reference(name if name.startswith("dlop") else f"diopi{name}")(_unary(function))


def _unary(function: Callable[[Array], Array]) -> Compute:
    def computed(*, input: Array) -> dict[str, Any]:
        return {"out": function(input)}

    return computed


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Vectorize a function of Python floats."""

    def computed(values: Array) -> Array:
        flat = [function(float(x)) for x in np.ravel(values)]
        return np.array(flat, np.longdouble).reshape(np.shape(values))

    return computed


erf = each(math.erf)
erfc = each(math.erfc)

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
HALF_LOG_TWO_PI = np.longdouble("0.918938533204672741780329736405617639861")


def lgamma(x: Array) -> Array:
    """Return log |Γ(x)| for x > 0 by Stirling's series (DLMF 5.11.1) after the recurrence 5.5.1.

    The result is infinity at poles and NaN at other negative numbers.
    """
    product, at = np.ones(x.shape, np.longdouble), np.where(x > 0, x, 1)
    for _ in range(60):
        low = at < 60
        product = np.where(low, product * at, product)
        at = np.where(low, at + 1, at)
    series = sum(np.longdouble(c) / at ** (2 * k + 1) for k, c in enumerate(STIRLING))
    value = (at - np.longdouble(0.5)) * np.log(at) - at + HALF_LOG_TWO_PI + series - np.log(product)
    pole = np.where(x == np.floor(x), np.inf, np.nan)
    return np.asarray(np.where(x > 0, value, pole))


def sigmoid(x: Array) -> Array:
    """Return the sigmoid, accurate on both sides of 0 for real numbers."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))
