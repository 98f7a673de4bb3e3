"""Comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

COMPARISONS: dict[str, Callable[..., Any]] = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Ge": np.greater_equal,
    "Gt": np.greater,
    "Le": np.less_equal,
    "Lt": np.less,
}


def _declare(name: str, function: Callable[..., Any]) -> None:
    def compared(input: Array, other: Any) -> Any:
        # A scalar is compared in the dtype of the tensor; True is 1 and not equal to 2.
        whole = np.int64 if input.dtype == bool else input.dtype
        return function(input, np.asarray(other).astype(whole))

    @reference(f"diopi{name}", f"diopi{name}Scalar")
    def out(*, input: Array, other: Any) -> dict[str, Any]:
        return {"out": compared(input, other)}

    @reference(f"diopi{name}Inp", f"diopi{name}InpScalar")
    def in_place(*, input: Array, other: Any) -> dict[str, Any]:
        return {"input": compared(input, other)}


for _name, _function in COMPARISONS.items():
    _declare(_name, _function)


@reference("diopiEqual")
def equal(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": bool(input.shape == other.shape and np.all(input == other))}


@reference("diopiIsNan")
def is_nan(*, input: Array) -> dict[str, Any]:
    return {"out": np.isnan(input) if input.dtype.kind in "fc" else np.zeros(input.shape, bool)}
