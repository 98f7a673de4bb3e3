"""Positions and ranges of one dimension, cut out, put back, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

Sizes = tuple[int, ...]


def _at(ndim: int, dim: int, place: Any) -> tuple[Any, ...]:
    return tuple(place if d == dim % ndim else slice(None) for d in range(ndim))


def _written(into: Array, values: Array, dim: int, place: Any) -> Array:
    result = into.copy()
    result[_at(into.ndim, dim, place)] = values
    return result


@reference("diopiSelect")
def select(*, input: Array, dim: int, index: int) -> dict[str, Any]:
    return {"out": input[_at(input.ndim, dim, index)]}


@reference("diopiSelectBackward")
def select_backward(
    *, grad_output: Array, input_sizes: Sizes, dim: int, index: int
) -> dict[str, Any]:
    zeros = np.zeros(input_sizes, grad_output.dtype)
    return {"grad_input": _written(zeros, grad_output, dim, index)}


@reference("diopiSelectScatter")
def select_scatter(*, input: Array, src: Array, dim: int, index: int) -> dict[str, Any]:
    return {"out": _written(input, src, dim, index)}


@reference("diopiSlice")
def cut(*, input: Array, dim: int, start: int, end: int, step: int) -> dict[str, Any]:
    return {"null_out": input[_at(input.ndim, dim, slice(start, end, step))]}


@reference("diopiSliceBackward")
def cut_backward(
    *, grad_output: Array, input_sizes: Sizes, dim: int, start: int, end: int, step: int
) -> dict[str, Any]:
    zeros = np.zeros(input_sizes, grad_output.dtype)
    return {"grad_input": _written(zeros, grad_output, dim, slice(start, end, step))}


@reference("diopiSliceScatter")
def slice_scatter(
    *, input: Array, src: Array, dim: int, start: int, end: int, step: int
) -> dict[str, Any]:
    return {"out": _written(input, src, dim, slice(start, end, step))}
