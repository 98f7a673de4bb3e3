"""Distances between rows, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiCdist")
def cdist(*, input1: Array, input2: Array, p: float, compute_mode: Any) -> dict[str, Any]:
    apart = np.abs(input1[..., :, None, :] - input2[..., None, :, :])
    if p == 0:
        value = np.sum(apart != 0, axis=-1).astype(np.longdouble)
    elif np.isinf(p):
        value = np.max(apart, axis=-1)
    else:
        value = np.sum(apart ** np.longdouble(p), axis=-1) ** (1 / np.longdouble(p))
    sizes = np.abs(input1)[..., :, None, :] + np.abs(input2)[..., None, :, :]
    return {"out": Expected(value, max(input1.shape[-1], 16), sizes.sum(axis=-1))}


def _summed(terms: Array, shape: tuple[int, ...]) -> Array:
    """Sum over broadcast dimensions, back to a shape."""
    terms = terms.sum(axis=tuple(range(terms.ndim - len(shape))))
    repeated = tuple(d for d, n in enumerate(shape) if n == 1)
    return np.asarray(terms.sum(axis=repeated, keepdims=True))


@reference("diopiCdistBackward")
def cdist_backward(
    *,
    grad_output: Array,
    input1: Array,
    input2: Array,
    p: float,
    cdist: Array,
    grad_input: tuple[int, ...] | None = None,
) -> dict[str, Any]:
    apart = input1[..., :, None, :] - input2[..., None, :, :]
    far = cdist[..., None]
    if p == 0:
        slope = np.zeros_like(apart)
    elif np.isinf(p):
        slope = np.sign(apart) * (np.abs(apart) == far)
    else:
        slope = np.sign(apart) * (np.abs(apart) / far) ** (p - 1)
    slope = np.where(far == 0, 0, slope)
    terms = grad_output[..., None] * slope
    # The difference is rounded first; the power multiplies its error by p - 1.
    sizes = np.abs(input1)[..., :, None, :] + np.abs(input2)[..., None, :, :]
    steep = 0 if np.isinf(p) or p == 0 else abs(p - 1)
    with np.errstate(all="ignore"):
        spread = np.where(apart != 0, sizes / np.abs(apart), 0)
    magnitude = np.abs(terms) * (1 + steep * spread)
    value, size = (np.sum(x, axis=-2) for x in (terms, magnitude))
    shape = input1.shape if grad_input is None else grad_input
    value, size = (_summed(x, shape) for x in (value, size))
    return {"grad_input": Expected(value, terms.size // max(value.size, 1) + 4, size)}
