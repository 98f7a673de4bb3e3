"""Elements that are nonzero or that a mask selects."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiNonzero")
def nonzero(*, input: Array) -> dict[str, Any]:
    return {"out": np.argwhere(input != 0)}


@reference("diopiMaskedSelect")
def masked_select(*, input: Array, mask: Array) -> dict[str, Any]:
    values, picked = np.broadcast_arrays(input, mask != 0)
    return {"out": values[picked]}


@reference("diopiMaskedScatter")
def masked_scatter(*, input: Array, mask: Array, source: Array) -> dict[str, Any]:
    picked = np.broadcast_to(mask != 0, input.shape)
    result = input.copy()
    result[picked] = source.ravel()[: picked.sum()]
    return {"out": result}


@reference("diopiMaskedSelectBackward")
def masked_select_backward(*, grad_output: Array, input: Array, mask: Array) -> dict[str, Any]:
    result = np.zeros_like(input)
    if 0 not in np.broadcast_shapes(input.shape, mask.shape):
        result[np.broadcast_to(mask != 0, input.shape)] = grad_output
    return {"grad_input": result}
