"""Sorted elements and their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


def _order(input: Array, dim: int, descending: bool) -> Array:
    """Return the indices of a stable sort in which NaN is the largest."""
    if input.ndim == 0:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(input, axis=dim, kind="stable")
    backwards = np.flip(input, dim)
    order = np.argsort(backwards, axis=dim, kind="stable")
    return np.flip(input.shape[dim] - 1 - order, dim)


def _picked(input: Array, order: Array, dim: int) -> Array:
    return np.take_along_axis(input, order, axis=dim) if input.ndim else input


@reference("diopiSort")
def sort(*, input: Array, dim: int, descending: bool, pStable: Any) -> dict[str, Any]:  # noqa: N803
    order = _order(input, dim, descending)
    return {"values": _picked(input, order, dim), "indices": order}


@reference("diopiArgsort")
def argsort(*, input: Array, stable: bool, dim: Any, descending: bool) -> dict[str, Any]:
    return {"out": _order(input, -1 if dim is None else dim, descending)}


@reference("diopiTopk")
def topk(*, input: Array, k: int, dim: int, largest: bool, sorted: bool) -> dict[str, Any]:
    order = np.take(_order(input, dim, largest), range(k), axis=dim)
    return {"values": _picked(input, order, dim), "indices": order}


@reference("diopiSortBackward")
def sort_backward(
    *, grad_output: Array, dim: int, indices: Array, sizes: tuple[int, ...], keepdim: bool
) -> dict[str, Any]:
    value = np.zeros(sizes, grad_output.dtype)
    if not sizes:
        return {"grad_input": grad_output}
    if keepdim:
        np.put_along_axis(value, indices, grad_output, axis=dim)
    else:
        at, values = (np.expand_dims(x, dim) for x in (indices, grad_output))
        np.put_along_axis(value, at, values, axis=dim)
    return {"grad_input": value}
