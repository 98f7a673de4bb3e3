"""What references of elementwise operators share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .reference import Array, Compute, reference


def as_dtype_of(input: Array, value: Any) -> Array:
    """A number, or an array, in the dtype that the input is computed in."""
    return np.asarray(value).astype(input.dtype)


def as_float(input: Array) -> Array:
    """The input in a wide floating dtype: integers and bools become numbers."""
    return input if input.dtype.kind in "fc" else input.astype(np.longdouble)


def unary(functions: dict[str, Callable[[Array], Array]]) -> None:
    """Declare references of operators ``(out, input)``, by name without ``diopi``."""
    for name, function in functions.items():
        reference(name if name.startswith("dlop") else f"diopi{name}")(_unary(function))


def _unary(function: Callable[[Array], Array]) -> Compute:
    def computed(*, input: Array) -> dict[str, Any]:
        return {"out": function(input)}

    return computed


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's floats for arrays; nan where it is not defined."""

    def one(number: float) -> float:
        try:
            return function(number)
        except (ValueError, OverflowError):
            return math.inf if function is math.lgamma else math.nan

    def computed(values: Array) -> Array:
        flat = [one(float(x)) for x in np.ravel(values)]
        return np.array(flat, np.longdouble).reshape(np.shape(values))

    return computed


erf = each(math.erf)
erfc = each(math.erfc)
lgamma = each(math.lgamma)


def sigmoid(x: Array) -> Array:
    """Accurate on both sides of 0, for real numbers."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))


def broadcast(*arrays: Array) -> list[Array]:
    return list(np.broadcast_arrays(*arrays))
