"""Writes of elements at indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


def _scattered(input: Array, dim: int, source: Array, index: Array, reduce: str) -> Expected:
    result, size = input.copy(), np.abs(input.astype(_wide(input)))
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = int(index[place])
        at, value = tuple(target), source[place]
        if reduce == "add":
            result[at] = result[at] + value
            size[at] += abs(value)
        elif reduce == "multiply":
            result[at] = result[at] * value
            size[at] *= abs(value)
        else:
            result[at] = value
    if not reduce:
        return Expected(result)
    if input.dtype.kind not in "fc":
        return Expected(result)
    length = index.shape[dim] + 1
    return Expected(result, length, size, roundings=length - 1, op_class="reduction")


@reference("diopiScatter")
def scatter(*, input: Array, dim: int, src: Array, index: Array, reduce: str) -> dict[str, Any]:
    return {"out": _scattered(input, dim, src, index, reduce)}


@reference("diopiScatterScalar")
def scatter_number(
    *, input: Array, dim: int, value: Any, index: Array, reduce: str
) -> dict[str, Any]:
    source = np.broadcast_to(as_dtype_of(input, value), index.shape)
    return {"out": _scattered(input, dim, source, index, reduce)}


def _wide(input: Array) -> Any:
    return np.clongdouble if input.dtype.kind == "c" else np.longdouble


@reference("diopiOneHot")
def one_hot(*, input: Array, num_classes: int) -> dict[str, Any]:
    classes = int(input.max()) + 1 if num_classes == -1 else num_classes
    return {"out": (input[..., None] == np.arange(classes)).astype(np.int64)}
