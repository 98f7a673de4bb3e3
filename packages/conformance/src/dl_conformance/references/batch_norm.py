"""Batch normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiBatchNorm")
def batch_norm(
    *,
    input: Array,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> dict[str, Any]:
    axes = (0, *range(2, input.ndim))
    count = input.size // input.shape[1]
    result: dict[str, Any] = {}
    if training:
        mean = np.mean(input, axis=axes)
        centred = input - _channels(mean, input)
        var = np.mean(centred * centred, axis=axes)
    else:
        mean, var = running_mean, running_var
    inverse = 1 / np.sqrt(var + eps)
    mean_size = np.mean(np.abs(input), axis=axes) + np.abs(mean)
    if training:
        result["save_mean"] = Expected(mean, count, mean_size)
        result["save_invstd"] = Expected(inverse, count, inverse)
        unbiased = var * count / (count - 1)
        rate = np.longdouble(momentum)
        for name, old, new, size in (
            ("running_mean", running_mean, mean, mean_size),
            ("running_var", running_var, unbiased, unbiased),
        ):
            if old is not None:
                moved = (1 - rate) * old + rate * new
                result[name] = Expected(moved, count, np.abs(old) + np.abs(rate) * size)
    else:
        result["running_mean"] = Expected(running_mean, op_class="exact")
        result["running_var"] = Expected(running_var, op_class="exact")
    scale = np.ones_like(mean) if weight is None else weight
    shift = np.zeros_like(mean) if bias is None else bias
    centred = input - _channels(mean, input)
    value = centred * _channels(inverse * scale, input) + _channels(shift, input)
    spread = np.abs(centred) + np.abs(input) + _channels(mean_size, input)
    size = spread * _channels(inverse * np.abs(scale), input) + _channels(np.abs(shift), input)
    result["out"] = Expected(value, count, size)
    return result


def _channels(values: Array, like: Array) -> Array:
    return values.reshape(1, -1, *(1 for _ in like.shape[2:]))


@reference("diopiBatchNormBackward")
def batch_norm_backward(
    *,
    grad_output: Array,
    input: Array,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    save_mean: Any,
    save_invstd: Any,
    training: bool,
    eps: float,
) -> dict[str, Any]:
    axes = (0, *range(2, input.ndim))
    count = input.size // input.shape[1]
    mean = save_mean if training else running_mean
    inverse = save_invstd if training else 1 / np.sqrt(running_var + eps)
    normal = (input - _channels(mean, input)) * _channels(inverse, input)
    spread = (np.abs(input) + _channels(np.abs(mean), input)) * _channels(np.abs(inverse), input)
    grad, size = grad_output, np.abs(grad_output)
    to_bias, to_weight = grad.sum(axis=axes), (grad * normal).sum(axis=axes)
    sizes = size.sum(axis=axes), (size * spread).sum(axis=axes)
    scale = inverse if weight is None else inverse * weight
    slope, slopes = grad, size
    if training:
        slope = grad - (_channels(to_bias, grad) + normal * _channels(to_weight, grad)) / count
        slopes = size + (_channels(sizes[0], grad) + spread * _channels(sizes[1], grad)) / count
    magnitude = 2 * _channels(np.abs(scale), grad) * slopes
    return {
        "grad_input": Expected(_channels(scale, grad) * slope, count, magnitude),
        "grad_weight": Expected(to_weight, count, sizes[1]),
        "grad_bias": Expected(to_bias, count, sizes[0]),
    }
