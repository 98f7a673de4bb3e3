"""Layer normalization and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiLayerNorm")
def layer_norm(
    *, input: Array, weight: Any, bias: Any, normalized_shape: tuple[int, ...], eps: float
) -> dict[str, Any]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    count = math.prod(normalized_shape)
    mean = np.mean(input, axis=axes, keepdims=True)
    centred = input - mean
    inverse = 1 / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
    scale = 1 if weight is None else weight
    shift = 0 if bias is None else bias
    value = centred * inverse * scale + shift
    mean_size = np.mean(np.abs(input), axis=axes, keepdims=True)
    spread = np.abs(centred) + np.abs(input) + mean_size
    size = spread * inverse * np.abs(scale) + np.abs(shift)
    return {
        "out": Expected(value, count, size),
        "save_mean": Expected(mean, count, mean_size),
        "save_invstd": Expected(inverse, count, inverse),
    }


@reference("diopiLayerNormBackward")
def layer_norm_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Any,
    bias: Any,
    mean: Array,
    rstd: Any,
    normalized_shape: tuple[int, ...],
) -> dict[str, Any]:
    lead = input.ndim - len(normalized_shape)
    axes, outer = tuple(range(lead, input.ndim)), tuple(range(lead))
    count = math.prod(normalized_shape)
    scaled = (input - mean) * rstd
    slope = grad_output * (1 if weight is None else weight)

    def average(terms: Array) -> Array:
        return np.asarray(np.mean(terms, axis=axes, keepdims=True))

    value = rstd * (slope - average(slope) - scaled * average(slope * scaled))
    size = np.abs(slope) + average(np.abs(slope)) + np.abs(scaled) * average(np.abs(slope * scaled))
    rows = math.prod(input.shape[:lead])
    result: dict[str, Any] = {"grad_input": Expected(value, count, 2 * np.abs(rstd) * size)}
    if weight is not None:
        terms = grad_output * scaled
        spread = np.abs(grad_output) * (np.abs(input) + np.abs(mean)) * np.abs(rstd)
        result["grad_weight"] = Expected(terms.sum(axis=outer), rows, spread.sum(axis=outer))
    if bias is not None:
        total = np.abs(grad_output).sum(axis=outer)
        result["grad_bias"] = Expected(grad_output.sum(axis=outer), rows, total)
    return result


@reference("diopiLayerNormGB")
def layer_norm_from_axis(
    *, input: Array, weight: Any, bias: Any, eps: float, begin_norm_axis: int
) -> dict[str, Any]:
    shape = input.shape[begin_norm_axis:]
    found = layer_norm(input=input, weight=weight, bias=bias, normalized_shape=shape, eps=eps)
    names = {"save_mean": "running_mean", "save_invstd": "running_var"}
    return {names.get(name, name): value for name, value in found.items()}


@reference("diopiLayerNormGBBackward")
def layer_norm_from_axis_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Any,
    bias: Any,
    running_mean: Array,
    running_std: Any,
    begin_norm_axis: int,
) -> dict[str, Any]:
    found = layer_norm_backward(
        grad_output=grad_output,
        input=input,
        weight=weight,
        bias=bias,
        mean=running_mean,
        rstd=running_std,
        normalized_shape=input.shape[begin_norm_axis:],
    )
    return dict(found)
