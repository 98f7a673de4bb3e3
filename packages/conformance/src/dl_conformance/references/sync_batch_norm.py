"""The steps of synchronized batch normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

AXES = (0, 2)


def _wide(vector: Array) -> Array:
    return np.asarray(vector[None, :, None])


def _summed(terms: Array, roundings: int) -> Expected:
    """Return the sums of each channel, of terms with a number of roundings each."""
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
        # A sum and a root; plus a difference and a quotient; plus a product and a sum.
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


def _channels(vector: Any, like: Array) -> Any:
    if vector is None:
        return None
    return vector.reshape(1, -1, *(1 for _ in like.shape[2:]))


def _axes(input: Array) -> tuple[int, ...]:
    return (0, *range(2, input.ndim))


@reference("diopiBatchNormStats")
def batch_statistics(*, input: Array, eps: float) -> dict[str, Any]:
    axes, count = _axes(input), input.size // input.shape[1]
    mean = input.mean(axis=axes)
    centred = input - _channels(mean, input)
    invstd = 1 / np.sqrt((centred**2).mean(axis=axes) + eps)
    # An error of the mean affects the variance only by its square.
    return {
        "mean": Expected(mean, count, np.abs(input).mean(axis=axes)),
        "invstd": Expected(invstd, count + 6, invstd),
    }


@reference("diopiBatchNormGatherStatsWithCounts")
def joined_statistics(
    *,
    input: Array,
    mean_all: Array,
    invstd_all: Array,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
    counts: Array,
) -> dict[str, Any]:
    each = counts.astype(np.longdouble)[:, None]
    total, single = each.sum(), np.longdouble(np.float32(eps))
    mean = (each * mean_all).sum(axis=0) / total
    squares = each * ((1 / invstd_all**2 - single) + (mean_all - mean) ** 2)
    sizes = each * (1 / invstd_all**2 + single + (np.abs(mean_all) + np.abs(mean)) ** 2)
    var, size = squares.sum(axis=0) / total, sizes.sum(axis=0) / total
    invstd = 1 / np.sqrt(var + single)
    length = 8 * len(mean_all)
    mean_size = (each * np.abs(mean_all)).sum(axis=0) / total
    found: dict[str, Any] = {
        "mean": Expected(mean, length, mean_size),
        "invstd": Expected(invstd, length, invstd * size / (var + single)),
    }
    rate = np.longdouble(np.float32(momentum))
    unbiased = total / (total - 1)
    for name, old, new, of in (
        ("running_mean", running_mean, mean, mean_size),
        ("running_var", running_var, var * unbiased, size * unbiased),
    ):
        if old is not None:
            spread = (1 - rate) * np.abs(old) + rate * of
            found[name] = Expected((1 - rate) * old + rate * new, length + 4, spread)
    return found


@reference("diopiBatchNormBackwardReduce")
def reduced_gradients(
    *,
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Any,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> dict[str, Any]:
    axes, count = _axes(input), input.size // input.shape[1]
    centre = _channels(mean, input)
    dy, dy_size = grad_out.sum(axis=axes), np.abs(grad_out).sum(axis=axes)
    xmu = (grad_out * (input - centre)).sum(axis=axes)
    size = (np.abs(grad_out) * (np.abs(input) + np.abs(centre))).sum(axis=axes)
    sums = Expected(dy, count, dy_size)
    found: dict[str, Any] = {}
    if input_g:
        found |= {"sum_dy": sums, "sum_dy_xmu": Expected(xmu, count + 2, size)}
    if weight_g:
        found["grad_weight"] = Expected(xmu * invstd, count + 3, size * np.abs(invstd))
    if bias_g:
        found["grad_bias"] = sums
    return found


@reference("diopiBatchNormBackwardElemt")
def gradient_from_sums(
    *,
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Any,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
) -> dict[str, Any]:
    total = np.longdouble(count.sum())
    scale = _channels(invstd if weight is None else invstd * weight, input)
    slope = _channels(invstd**2 * sum_dy_xmu / total, input)
    shift, centre = _channels(sum_dy / total, input), _channels(mean, input)
    value = scale * (grad_out - shift - (input - centre) * slope)
    sizes = np.abs(grad_out) + np.abs(shift) + (np.abs(input) + np.abs(centre)) * np.abs(slope)
    return {"grad_input": Expected(value, 12, np.abs(scale) * sizes)}


@reference("diopiBatchNormElemt")
def applied_statistics(
    *, input: Array, weight: Any, bias: Any, mean: Array, invstd: Array, eps: float
) -> dict[str, Any]:
    centre, inverse = _channels(mean, input), _channels(invstd, input)
    scale = inverse if weight is None else inverse * _channels(weight, input)
    shift = 0 if bias is None else _channels(bias, input)
    value = (input - centre) * scale + shift
    size = (np.abs(input) + np.abs(centre)) * np.abs(scale) + np.abs(shift)
    return {"out": Expected(value, 5, size, op_class="reduction")}
