"""Nearest-neighbor resizing and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

Sizes = tuple[int, ...]


def _cells(sizes: Sizes, outputs: Sizes) -> Any:
    each = (np.arange(m) * n // m for n, m in zip(sizes, outputs, strict=True))
    return (..., *np.ix_(*each))


@reference("diopiUpsampleNearest")
def upsample(*, input: Array, size: Sizes) -> dict[str, Any]:
    return {"out": input[_cells(input.shape[2:], size)]}


@reference("diopiUpsampleNearestBackward")
def upsample_backward(*, grad_output: Array, out_size: Sizes, in_size: Sizes) -> dict[str, Any]:
    value, total = np.zeros(in_size, grad_output.dtype), np.zeros(in_size, grad_output.dtype)
    count = np.zeros(in_size, np.int64)
    cells = _cells(in_size[2:], out_size)
    places = tuple(np.broadcast_arrays(*cells[1:]))
    for at in np.ndindex(*in_size[:2]):
        np.add.at(value[at], places, grad_output[at])
        np.add.at(total[at], places, np.abs(grad_output[at]))
        np.add.at(count[at], places, 1)
    return {"grad_input": Expected(value, np.maximum(count, 1), total)}
