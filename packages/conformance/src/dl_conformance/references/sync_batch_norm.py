"""The steps of batch normalization over several processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

AXES = (0, 2)


def _wide(vector: Array) -> Array:
    return np.asarray(vector[None, :, None])


def _summed(terms: Array, roundings: int) -> Expected:
    """Of every channel, of terms that have so many roundings each."""
    count = terms.shape[0] * terms.shape[2]
    return Expected(terms.sum(axis=AXES), count + roundings, np.abs(terms).sum(axis=AXES))


def _of(value: Array, length: int, size: Array) -> Expected:
    return Expected(value, length, size)


@reference("diopiSyncBnMeanMmcv")
def mean_of(*, input: Array) -> dict[str, Any]:
    return {"mean": _summed(input / (input.shape[0] * input.shape[2]), 1)}


@reference("diopiSyncBnVarMmcv")
def variance(*, input: Array, mean: Array) -> dict[str, Any]:
    terms = (input - _wide(mean)) ** 2
    return {"var": _summed(terms / (input.shape[0] * input.shape[2]), 4)}


@reference("diopiSyncBnOutputMmcv")
def output_of(
    *,
    running_mean: Any,
    running_var: Any,
    input: Array,
    mean: Array,
    var: Array,
    weight: Array,
    bias: Array,
    eps: float,
    momentum: float,
    group_size: int,
) -> dict[str, Any]:
    rate = np.longdouble(np.float32(momentum))
    std = np.sqrt(var + np.float32(eps))
    norm = (input - _wide(mean)) / _wide(std)
    scaled = norm * _wide(weight)
    found: dict[str, Any] = {
        # A sum and a root; with a difference and a quotient; with a product and a sum.
        "std": _of(std, 2, std),
        "norm": _of(norm, 4, np.abs(norm)),
        "output": _of(scaled + _wide(bias), 6, np.abs(scaled) + np.abs(_wide(bias))),
    }
    if running_mean is not None:
        count = input.shape[0] * input.shape[2] * group_size
        unbiased = var * count / (count - 1)
        for name, old, new in (
            ("running_mean", running_mean, mean),
            ("running_var", running_var, unbiased),
        ):
            size = (1 - rate) * np.abs(old) + rate * np.abs(new)
            found[name] = _of((1 - rate) * old + rate * new, 5, size)
    return found


@reference("diopiSyncBnBackwardParamMmcv")
def gradients_of_parameters(*, grad_output: Array, norm: Array) -> dict[str, Any]:
    return {"grad_weight": _summed(grad_output * norm, 1), "grad_bias": _summed(grad_output, 0)}


@reference("diopiSyncBnBackwardDataMmcv")
def gradient_of_data(
    *,
    grad_output: Array,
    weight: Array,
    grad_weight: Array,
    grad_bias: Array,
    norm: Array,
    std: Array,
) -> dict[str, Any]:
    count = grad_output.shape[0] * grad_output.shape[2]
    terms = (_wide(grad_weight) * norm, _wide(grad_bias))
    scale = _wide(weight / std)
    value = scale * (grad_output - sum(terms) / count)
    size = np.abs(scale) * (np.abs(grad_output) + sum(np.abs(x) for x in terms) / count)
    # A product, a sum, a quotient and a difference; a quotient and a product.
    return {"grad_input": _of(value, 6, size)}
