"""Sum, mean, product, maximum and minimum over dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float
from dl_conformance.reference import Array, Expected, reference


def _axes(input: Array, dim: Any) -> tuple[int, ...]:
    if dim is None or (isinstance(dim, tuple) and not dim):
        return tuple(range(input.ndim))
    return (dim,) if isinstance(dim, int) else tuple(x % max(input.ndim, 1) for x in dim)


def _count(input: Array, axes: tuple[int, ...]) -> int:
    return int(np.prod([input.shape[x] for x in axes], dtype=np.int64))


@reference("diopiSum")
def sum_of(*, input: Array, dim: Any) -> dict[str, Any]:
    axes = _axes(input, dim)
    if input.dtype.kind not in "fc":
        return {"out": np.asarray(np.sum(input.astype(np.int64), axis=axes))}
    size = np.asarray(np.sum(np.abs(input), axis=axes))
    return {"out": Expected(np.sum(input, axis=axes), _count(input, axes), size)}


@reference("diopiMean")
def mean(*, input: Array, dim: Any) -> dict[str, Any]:
    axes, wide = _axes(input, dim), as_float(input)
    count = _count(input, axes)
    size = np.asarray(np.sum(np.abs(wide), axis=axes) / count)
    return {"out": Expected(np.sum(wide, axis=axes) / count, count, size)}


@reference("diopiProd")
def prod(*, input: Array, dim: Any) -> dict[str, Any]:
    axes = _axes(input, dim)
    if input.dtype.kind not in "fc":
        return {"out": np.asarray(np.prod(input.astype(np.int64), axis=axes))}
    value = np.asarray(np.prod(input, axis=axes))
    return {"out": Expected(value, _count(input, axes), np.abs(value))}


@reference("diopiAmax")
def amax(*, self: Array, dim: Any, keepdim: bool) -> dict[str, Any]:
    return {"out": np.max(self, axis=_axes(self, dim), keepdims=keepdim)}


@reference("diopiMaxAll")
def max_all(*, input: Array) -> dict[str, Any]:
    return {"max": np.max(input)}


@reference("diopiMinAll")
def min_all(*, input: Array) -> dict[str, Any]:
    return {"min": np.min(input)}
