"""Cumulative sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiCumsum")
def cumsum(*, input: Array, dim: int) -> dict[str, Any]:
    wide = input if input.dtype.kind in "fc" else input.astype(np.int64)
    value = np.cumsum(wide, axis=dim).reshape(input.shape)
    if input.dtype.kind == "b":
        return {"out": value}
    if input.dtype.kind not in "fc":
        return {"out": value.astype(input.dtype)}
    size = np.cumsum(np.abs(input), axis=dim).reshape(input.shape)
    return {"out": Expected(value, input.shape[dim] if input.ndim else 1, size)}


@reference("diopiCumsumBackward")
def cumsum_backward(*, grad_output: Array, dim: int) -> dict[str, Any]:
    if not grad_output.ndim:
        return {"grad_input": grad_output}

    def sums(values: Array) -> Array:
        return np.flip(np.cumsum(np.flip(values, dim), axis=dim), dim)

    size = sums(np.abs(grad_output))
    return {"grad_input": Expected(sums(grad_output), grad_output.shape[dim], size)}
