"""Triangular parts of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


def _above(input: Array, diagonal: int) -> Array:
    rows, columns = np.indices(input.shape[-2:])
    return np.asarray(columns - rows > diagonal)


@reference("diopiTril")
def tril(*, input: Array, diagonal: int) -> dict[str, Any]:
    return {"out": np.where(_above(input, diagonal), input.dtype.type(0), input)}


@reference("diopiTriu")
def triu(*, input: Array, diagonal: int) -> dict[str, Any]:
    return {"out": np.where(_above(input, diagonal - 1), input, input.dtype.type(0))}
