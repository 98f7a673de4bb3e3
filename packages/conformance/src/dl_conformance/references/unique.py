"""Distinct elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiUnique")
def unique(*, input: Array, dim: Any, sorted: bool, return_counts: bool) -> dict[str, Any]:
    values, inverse, counts = np.unique(input, return_inverse=True, return_counts=True, axis=dim)
    shape = input.shape if dim is None else (input.shape[dim],)
    result = {"out": values, "indices": inverse.reshape(shape)}
    return {**result, "counts": counts} if return_counts else result
