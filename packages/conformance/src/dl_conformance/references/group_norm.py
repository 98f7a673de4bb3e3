"""Group normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiGroupNorm")
def group_norm(
    *, input: Array, weight: Any, bias: Any, num_groups: int, eps: float
) -> dict[str, Any]:
    samples, channels = input.shape[:2]
    grouped = input.reshape(samples, num_groups, -1)
    count = grouped.shape[2]
    mean = grouped.mean(axis=2)
    centred = grouped - mean[..., None]
    inverse = 1 / np.sqrt(np.mean(centred * centred, axis=2) + eps)
    mean_size = np.abs(grouped).mean(axis=2)
    spread = np.abs(centred) + np.abs(grouped) + mean_size[..., None]
    sides = (1, channels, *(1 for _ in input.shape[2:]))
    scale = np.ones(sides) if weight is None else weight.reshape(sides)
    shift = np.zeros(sides) if bias is None else bias.reshape(sides)
    value = (centred * inverse[..., None]).reshape(input.shape) * scale + shift
    size = (spread * inverse[..., None]).reshape(input.shape) * np.abs(scale) + np.abs(shift)
    return {
        "out": Expected(value, count, size),
        "save_mean": Expected(mean, count, mean_size),
        "save_invstd": Expected(inverse, count, inverse),
    }


@reference("diopiGroupNormBackward")
def group_norm_backward(
    *, grad_output: Array, input: Array, weight: Any, mean: Array, rstd: Array, num_groups: int
) -> dict[str, Any]:
    samples, channels = input.shape[:2]
    sides = (1, channels, *(1 for _ in input.shape[2:]))
    grouped = (samples, num_groups, -1)
    slope = grad_output * (1 if weight is None else weight.reshape(sides))
    centre, inverse = (x.reshape(samples, num_groups, 1) for x in (mean, rstd))
    scaled = (input.reshape(grouped) - centre) * inverse
    spread = (np.abs(input).reshape(grouped) + np.abs(centre)) * np.abs(inverse)
    slopes = slope.reshape(grouped)

    def average(terms: Array) -> Array:
        return np.asarray(terms.mean(axis=2, keepdims=True))

    value = inverse * (slopes - average(slopes) - scaled * average(slopes * scaled))
    size = np.abs(slopes) + average(np.abs(slopes))
    size = size + spread * average(np.abs(slopes) * spread)
    count = slopes.shape[2]
    axes = (0, *range(2, input.ndim))
    terms, sizes = (grad_output * scaled.reshape(input.shape), spread.reshape(input.shape))
    rows = input.size // channels
    return {
        "grad_input": Expected(
            value.reshape(input.shape),
            count,
            (2 * np.abs(inverse) * size).reshape(input.shape),
        ),
        "grad_weight": Expected(
            terms.sum(axis=axes), rows, (np.abs(grad_output) * sizes).sum(axis=axes)
        ),
        "grad_bias": Expected(grad_output.sum(axis=axes), rows, np.abs(grad_output).sum(axis=axes)),
    }
