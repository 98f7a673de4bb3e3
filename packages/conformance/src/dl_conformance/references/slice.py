"""Selection, slicing and writing along one dimension, and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

Sizes = tuple[int, ...]


def _at(ndim: int, dim: int, index: Any) -> tuple[Any, ...]:
    return tuple(index if d == dim % ndim else slice(None) for d in range(ndim))


def _write_slice(into: Array, values: Array, dim: int, index: Any) -> Array:
    result = into.copy()
    result[_at(into.ndim, dim, index)] = values
    return result


@reference("diopiSelect")
def select(*, input: Array, dim: int, index: int) -> dict[str, Any]:
    return {"out": input[_at(input.ndim, dim, index)]}


@reference("diopiSelectBackward")
def select_backward(
    *, grad_output: Array, input_sizes: Sizes, dim: int, index: int
) -> dict[str, Any]:
    zeros = np.zeros(input_sizes, grad_output.dtype)
    return {"grad_input": _write_slice(zeros, grad_output, dim, index)}


@reference("diopiSelectScatter")
def select_scatter(*, input: Array, src: Array, dim: int, index: int) -> dict[str, Any]:
    return {"out": _write_slice(input, src, dim, index)}


@reference("diopiSlice")
def cut(*, input: Array, dim: int, start: int, end: int, step: int) -> dict[str, Any]:
    return {"null_out": input[_at(input.ndim, dim, slice(start, end, step))]}


@reference("diopiSliceBackward")
def cut_backward(
    *, grad_output: Array, input_sizes: Sizes, dim: int, start: int, end: int, step: int
) -> dict[str, Any]:
    zeros = np.zeros(input_sizes, grad_output.dtype)
    return {"grad_input": _write_slice(zeros, grad_output, dim, slice(start, end, step))}


@reference("diopiSliceScatter")
def slice_scatter(
    *, input: Array, src: Array, dim: int, start: int, end: int, step: int
) -> dict[str, Any]:
    return {"out": _write_slice(input, src, dim, slice(start, end, step))}
