"""Division by norms, and gradients of norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

Axes = tuple[int, ...]


def _norms(x: Array, p: float, axes: Axes) -> Array:
    size = np.abs(x)
    if np.isinf(p):
        return np.asarray((size.max if p > 0 else size.min)(axis=axes, keepdims=True))
    if p == 0:
        return np.asarray((size != 0).sum(axis=axes, keepdims=True).astype(size.dtype))
    order = size.dtype.type(p)
    return np.asarray((size**order).sum(axis=axes, keepdims=True) ** (1 / order))


def _slopes(x: Array, p: float, norm: Array, axes: Axes) -> Array:
    """Return the gradient of a given norm."""
    if np.isinf(p):
        most = np.abs(x) == norm
        return np.asarray(np.sign(x) * most / most.sum(axis=axes, keepdims=True))
    if p == 0:
        return np.zeros_like(x)
    return np.asarray(np.sign(x) * (np.abs(x) / norm) ** (p - 1))


def _slope_length(p: float) -> int:
    """Return the number of roundings: a quotient, amplified p - 1 times; a power; two products."""
    return 4 if np.isinf(p) else 4 + int(np.ceil(abs(p - 1)))


@reference("diopiNormBackward")
def norm_backward(
    *, grad_output: Array, self: Array, norm: Array, dim: Any, p: Any
) -> dict[str, Any]:
    axes = tuple(range(self.ndim)) if not dim else tuple(dim)
    order = 2.0 if p is None else p
    kept = _norms(self, 2.0, axes).shape
    slopes = _slopes(self, order, norm.reshape(kept), axes)
    value = grad_output.reshape(kept) * slopes
    return {"grad_input": Expected(value, _slope_length(order), np.abs(value))}


@reference("diopiNormalize")
def normalize(*, input: Array, p: float, axis: int, eps: float) -> dict[str, Any]:
    value = input / np.maximum(_norms(input, p, (axis,)), eps)
    # The power multiplies relative errors by p, and the root of the sum divides them by p.
    return {"output": Expected(value, input.shape[axis] + 4, np.abs(value))}


@reference("diopiNormalizeBackward")
def normalize_backward(
    *, grad_output: Array, input: Array, p: float, axis: int, eps: float
) -> dict[str, Any]:
    norm = _norms(input, p, (axis,))
    by = np.maximum(norm, eps)
    dot = (grad_output * input).sum(axis=axis, keepdims=True) / by**2
    change = np.where(norm < eps, 0, _slopes(input, p, norm, (axis,)))
    dots = np.abs(grad_output * input).sum(axis=axis, keepdims=True) / by**2
    size = np.abs(grad_output) / by + np.abs(change) * dots
    length = input.shape[axis] + _slope_length(p) + 4
    return {"grad_input": Expected(grad_output / by - change * dot, length, size)}
