"""Instance normalization over the dimensions from an axis on, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _rows(x: Array, axis: int) -> Array:
    """Flatten to samples, channels (dimensions before `axis`), and normalized elements."""
    first = axis % x.ndim
    return x.reshape(x.shape[0], math.prod(x.shape[1:first]), math.prod(x.shape[first:]))


def _per_channel(values: Any, without: float) -> Any:
    return without if values is None else values[None, :, None]


def _mean(terms: Array) -> Array:
    return np.asarray(terms.mean(axis=2, keepdims=True))


def _normal(x: Array, eps: float) -> tuple[Array, Array, Array]:
    """Return the normalized rows, their scale factors, and the magnitudes of their terms."""
    shift = x - _mean(x)
    inverse = 1 / np.sqrt(_mean(shift * shift) + eps)
    size = (np.abs(x) + _mean(np.abs(x))) * inverse
    return shift * inverse, inverse, size


@reference("diopiInstanceNorm")
def instance_norm(*, input: Array, axis: int, scale: Any, bias: Any, eps: float) -> dict[str, Any]:
    rows = _rows(input, axis)
    normal, _, size = _normal(rows, eps)
    weight, shift = _per_channel(scale, 1.0), _per_channel(bias, 0.0)
    spread = (np.abs(normal) + size) * np.abs(weight) + np.abs(shift)
    value = (normal * weight + shift).reshape(input.shape)
    return {"output": Expected(value, rows.shape[2], spread.reshape(input.shape))}


@reference("diopiInstanceNormBackward")
def instance_norm_backward(
    *, grad_output: Array, input: Array, scale: Any, bias: Any, axis: int, eps: float
) -> dict[str, Any]:
    rows, grad = _rows(input, axis), _rows(grad_output, axis)
    normal, inverse, size = _normal(rows, eps)
    weight, length = _per_channel(scale, 1.0), rows.shape[2]
    value = weight * inverse * (grad - _mean(grad) - normal * _mean(grad * normal))
    spread = np.abs(grad) + _mean(np.abs(grad)) + size * _mean(np.abs(grad) * size)
    # Roundings of the standard deviations and their inverses, which are recomputed.
    spread = 3 * np.abs(weight * inverse) * spread
    outer, count = (0, 2), rows.shape[0] * length + length
    terms = np.abs(grad) * size
    return {
        "grad_input": Expected(value.reshape(input.shape), length, spread.reshape(input.shape)),
        "grad_scale": Expected((grad * normal).sum(axis=outer), count, terms.sum(axis=outer)),
        "grad_bias": Expected(grad.sum(axis=outer), count, np.abs(grad).sum(axis=outer)),
    }
