"""Tensors filled with one value."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import reference


@reference("diopiOnes")
def ones(*, size: tuple[int, ...]) -> dict[str, Any]:
    return {"out": np.ones(size)}


@reference("diopiZeros")
def zeros(*, size: tuple[int, ...]) -> dict[str, Any]:
    return {"out": np.zeros(size)}


@reference("diopiFill")
def fill(*, input: tuple[int, ...], value: Any) -> dict[str, Any]:
    return {"input": np.full(input, value)}


@reference("diopiZeroInp")
def zero(*, self: tuple[int, ...]) -> dict[str, Any]:
    return {"self": np.zeros(self)}
