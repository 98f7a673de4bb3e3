"""Indexing by tensors of indices and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference


def _key(indices: list[Any]) -> tuple[Any, ...]:
    kinds = (x.astype(bool) if x is not None and x.dtype == np.uint8 else x for x in indices)
    return tuple(slice(None) if x is None else x for x in kinds)


@reference("diopiIndex")
def index(*, input: Array, indices: list[Any]) -> dict[str, Any]:
    return {"out": input[_key(indices)]}


@reference("diopiIndexPut")
def index_put(
    *, input: Array, values: Array, indices: list[Any], accumulate: bool
) -> dict[str, Any]:
    result = input.copy()
    if not accumulate:
        result[_key(indices)] = values
        return {"out": Expected(result, op_class="exact")}
    if input.dtype == bool:
        np.logical_or.at(result, _key(indices), values)
        return {"out": result}
    np.add.at(result, _key(indices), values)
    if input.dtype.kind not in "fc":
        return {"out": result}
    size = np.abs(input)
    np.add.at(size, _key(indices), np.abs(values))
    return {"out": Expected(result, max(values.size, 2), size)}


@reference("diopiIndexBackward")
def index_backward(
    *,
    zeros_like_input: Array,
    indices: list[Any],
    grad_output: Array,
) -> dict[str, Any]:
    value, size = zeros_like_input.copy(), np.abs(zeros_like_input)
    count = np.zeros(value.shape, np.int64)
    np.add.at(value, _key(indices), grad_output)
    np.add.at(size, _key(indices), np.abs(grad_output))
    np.add.at(count, _key(indices), 1)
    summed = Expected(value, np.maximum(count, 1), size)
    return {"grad_input": summed, "zeros_like_input": UNSPECIFIED}
