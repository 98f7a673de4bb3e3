"""Root-mean-square normalization and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiRMSNorm")
def rms_norm(
    *, input: Array, normalized_shape: tuple[int, ...], weight: Any, bias: Any, eps: float
) -> dict[str, Any]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    count = math.prod(normalized_shape)
    inverse = 1 / np.sqrt(np.mean(input * input, axis=axes, keepdims=True) + eps)
    scaled = input * inverse * (1 if weight is None else weight)
    shift = 0 if bias is None else bias
    size = np.abs(scaled) + np.abs(shift)
    return {
        "out": Expected(scaled + shift, count, size),
        "inv_rms": Expected(inverse, count, inverse),
    }


@reference("diopiRMSNormBackward")
def rms_norm_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Any,
    bias: Any,
    inv_rms: Array,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> dict[str, Any]:
    lead = input.ndim - len(normalized_shape)
    axes, outer = tuple(range(lead, input.ndim)), tuple(range(lead))
    count, rows = math.prod(normalized_shape), math.prod(input.shape[:lead])
    slope = grad_output * (1 if weight is None else weight)
    scaled = input * inv_rms

    def average(terms: Array) -> Array:
        return np.asarray(np.mean(terms, axis=axes, keepdims=True))

    value = inv_rms * (slope - scaled * average(slope * scaled))
    size = inv_rms * (np.abs(slope) + np.abs(scaled) * average(np.abs(slope * scaled)))
    terms, total = grad_output * scaled, np.abs(grad_output).sum(axis=outer)
    return {
        "grad_input": Expected(value, count, 2 * np.abs(size)),
        "grad_weight": Expected(terms.sum(axis=outer), rows, np.abs(terms).sum(axis=outer)),
        "grad_bias": Expected(grad_output.sum(axis=outer), rows, total),
    }


def _normalized(value: Array, sizes: Array, scale: Array, eps: float) -> Expected:
    count = value.shape[-1]
    inverse = 1 / np.sqrt(np.mean(value * value, axis=-1, keepdims=True) + np.float32(eps))
    # An error of the input affects the element itself and the mean of squares.
    spread = np.mean(np.abs(value) * sizes, axis=-1, keepdims=True) * inverse**2
    size = np.abs(scale) * inverse * (sizes + np.abs(value) * (1 + spread))
    return Expected(value * inverse * scale, count + 4, size)


@reference("diopiRootMeanSquareNormInp")
def root_mean_square_norm(*, inoutput: Array, scale: Array, eps: float) -> dict[str, Any]:
    return {"inoutput": _normalized(inoutput, np.zeros_like(inoutput), scale, eps)}


@reference("diopiFusedAddRootMeanSquareNormInp")
def fused_add_root_mean_square_norm(
    *, inoutput: Array, residual: Array, bias: Any, scale: Array, eps: float
) -> dict[str, Any]:
    """Return the normalized sum and the residual; the stored (rounded) sum is normalized."""
    shift = 0 if bias is None else bias
    total, size = inoutput + residual + shift, np.abs(inoutput) + np.abs(residual) + np.abs(shift)
    return {
        "residual": Expected(total, 2, size),
        "inoutput": _normalized(total, size, scale, eps),
    }
