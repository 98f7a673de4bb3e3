"""Elements and slices at indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiIndexSelect")
def index_select(*, input: Array, dim: int, index: Array) -> dict[str, Any]:
    return {"out": np.take(input, index, axis=dim)}


@reference("diopiGather")
def gather(*, input: Array, dim: int, index: Array) -> dict[str, Any]:
    places: list[Array] = list(np.indices(index.shape))
    places[dim] = index
    return {"out": input[tuple(places)]}


def _added(shape: tuple[int, ...], at: tuple[Any, ...], grad: Array) -> Expected:
    """Add every element of a gradient at the index that it was read from."""
    value, size = np.zeros(shape, grad.dtype), np.zeros(shape, np.longdouble)
    count = np.zeros(shape, np.int64)
    np.add.at(value, at, grad)
    np.add.at(size, at, np.abs(grad))
    np.add.at(count, at, 1)
    return Expected(value, np.maximum(count, 1), size)


@reference("diopiIndexSelectBackward")
def index_select_backward(
    *, grad: Array, input_sizes: tuple[int, ...], dim: int, index: Array
) -> dict[str, Any]:
    places: list[Array] = list(np.indices(grad.shape))
    places[dim] = index[places[dim]]
    return {"grad_input": _added(input_sizes, tuple(places), grad)}


@reference("diopiGatherBackward")
def gather_backward(*, grad_output: Array, input: Array, dim: int, index: Array) -> dict[str, Any]:
    places: list[Array] = list(np.indices(index.shape))
    places[dim] = index
    return {"grad_input": _added(input.shape, tuple(places), grad_output)}
