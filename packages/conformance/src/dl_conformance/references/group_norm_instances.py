"""Instance normalization, with the channels along any axis, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _per_channel(values: Any, axis: int, ndim: int, without: float) -> Any:
    if values is None:
        return without
    return values.reshape([-1 if d == axis % ndim else 1 for d in range(ndim)])


def _normal(x: Array, axis: int, eps: float) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """The normalized input, what it was multiplied with, its terms, and the dimensions of means."""
    inside = tuple(d for d in range(1, x.ndim) if d != axis % x.ndim)
    shift = x - x.mean(axis=inside, keepdims=True)
    inverse = 1 / np.sqrt((shift * shift).mean(axis=inside, keepdims=True) + eps)
    size = (np.abs(x) + np.abs(x).mean(axis=inside, keepdims=True)) * inverse
    return shift * inverse, inverse, size, inside


@reference("diopiInstanceNorm")
def instance_norm(*, input: Array, axis: int, scale: Any, bias: Any, eps: float) -> dict[str, Any]:
    normal, _, size, inside = _normal(input, axis, eps)
    weight = _per_channel(scale, axis, input.ndim, 1.0)
    shift = _per_channel(bias, axis, input.ndim, 0.0)
    length = math.prod(input.shape[d] for d in inside)
    spread = (np.abs(normal) + size) * np.abs(weight) + np.abs(shift)
    return {"output": Expected(normal * weight + shift, length, spread)}


@reference("diopiInstanceNormBackward")
def instance_norm_backward(
    *, grad_output: Array, input: Array, scale: Any, bias: Any, axis: int, eps: float
) -> dict[str, Any]:
    normal, inverse, size, inside = _normal(input, axis, eps)
    weight = _per_channel(scale, axis, input.ndim, 1.0)
    grad = grad_output

    def average(terms: Array) -> Array:
        return np.asarray(terms.mean(axis=inside, keepdims=True))

    value = weight * inverse * (grad - average(grad) - normal * average(grad * normal))
    spread = np.abs(grad) + average(np.abs(grad)) + size * average(np.abs(grad) * size)
    length = math.prod(input.shape[d] for d in inside)
    outer = tuple(d for d in range(input.ndim) if d != axis % input.ndim)
    count = input.size // input.shape[axis] + length
    terms = np.abs(grad) * size
    return {
        # Of the deviations and of their inverse, which are computed anew.
        "grad_input": Expected(value, length, 3 * np.abs(weight * inverse) * spread),
        "grad_scale": Expected((grad * normal).sum(axis=outer), count, terms.sum(axis=outer)),
        "grad_bias": Expected(grad.sum(axis=outer), count, np.abs(grad).sum(axis=outer)),
    }
