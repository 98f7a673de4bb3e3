"""Elements and slices at positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiIndexSelect")
def index_select(*, input: Array, dim: int, index: Array) -> dict[str, Any]:
    return {"out": np.take(input, index, axis=dim)}


@reference("diopiGather")
def gather(*, input: Array, dim: int, index: Array) -> dict[str, Any]:
    places: list[Array] = list(np.indices(index.shape))
    places[dim] = index
    return {"out": input[tuple(places)]}
