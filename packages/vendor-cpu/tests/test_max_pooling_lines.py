"""Pooling of lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from referenced import Expected, run
from support import FLOATS, LAYOUTS, NUMBERS, Array, numbers

Windows = list[list[int]]
"""The cells of each window."""

RULES = [([3], None, [1], [1], False), ([2], [3], [0], [2], False), ([3], [2], [1], [1], True)]


def windows_of(
    length: int, kernel: list[int], stride: list[int] | None, padding: list[int],
    dilation: list[int], ceil_mode: bool,
) -> tuple[Windows, list[int]]:  # fmt: skip
    """Windows, and how many of their cells lie on the line or its padding."""
    (k,), (p,), (d,) = kernel, padding, dilation
    (s,) = stride or kernel
    span = length + 2 * p - d * (k - 1) - 1
    count = (span + s - 1 if ceil_mode else span) // s + 1
    if ceil_mode and (count - 1) * s >= length + p:
        count -= 1
    cells = [[i * s - p + j * d for j in range(k)] for i in range(count)]
    padded = [sum(c < length + p for c in window) for window in cells]
    return [[c for c in window if 0 <= c < length] for window in cells], padded


def adaptive_windows(length: int, count: int) -> Windows:
    return [list(range(i * length // count, -(-(i + 1) * length // count))) for i in range(count)]


def maxima(input: Array, windows: Windows) -> dict[str, Array]:
    at = np.stack([np.array(w)[input[..., w].argmax(-1)] for w in windows], axis=-1)
    return {"out": np.take_along_axis(input, at, -1), "indices": at}


def means(input: Array, windows: Windows, divisors: list[int]) -> dict[str, Expected]:
    sums, sizes = (
        np.stack([x[..., w].sum(-1) / d for w, d in zip(windows, divisors, strict=True)], -1)
        for x in (input, np.abs(input))
    )
    return {"out": Expected(sums, max(map(len, windows)) + 1, sizes)}


def spread(grad: Array, length: int, windows: Windows, divisors: list[int]) -> dict[str, Expected]:
    value = np.zeros((*grad.shape[:-1], length), grad.dtype)
    size = np.zeros_like(value)
    for i, (window, divisor) in enumerate(zip(windows, divisors, strict=True)):
        value[..., window] += grad[..., i : i + 1] / divisor
        size[..., window] += np.abs(grad[..., i : i + 1]) / divisor
    return {"grad_input": Expected(value, len(windows) + 1, size)}


def put_back(grad: Array, length: int, indices: Array) -> dict[str, Expected]:
    value = np.zeros((*grad.shape[:-1], length), grad.dtype)
    size = np.zeros_like(value)
    rows = np.indices(indices.shape)[:-1]
    np.add.at(value, (*rows, indices), grad)
    np.add.at(size, (*rows, indices), np.abs(grad))
    return {"grad_input": Expected(value, grad.shape[-1], size)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(2, 3, 11), (3, 11)])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_maxima(
    vendor: Vendor, dtype: str, rule: tuple[Any, ...], shape: tuple[int, ...], layout: str
) -> None:
    kernel, stride, padding, dilation, ceil_mode = rule
    windows, _ = windows_of(11, *rule)
    lists = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation,
             "ceil_mode": ceil_mode}  # fmt: skip
    x = numbers(shape, dtype, 1)

    def found(input: Array, **_: Any) -> dict[str, Array]:
        return maxima(input, windows)

    def alone(input: Array, **_: Any) -> dict[str, Array]:
        return {"out": maxima(input, windows)["out"]}

    run(vendor, "diopiMaxPool1d", alone, dtype, layout, input=x, **lists)
    run(vendor, "diopiMaxPool1dWithIndices", found, dtype, layout, input=x, **lists)
    if dtype in FLOATS:
        at = maxima(numbers(shape, "float64", 1), windows)["indices"]
        run(
            vendor, "diopiMaxPool1dBackward",
            lambda grad_output, input, indices, **_: put_back(grad_output, 11, indices),
            dtype, layout, grad_output=numbers(at.shape, dtype, 2), input=x, indices=at, **lists,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule[3] == [1]], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_means(
    vendor: Vendor, dtype: str, rule: tuple[Any, ...], count_include_pad: bool, layout: str
) -> None:
    kernel, stride, padding, _, ceil_mode = rule
    windows, padded = windows_of(11, *rule)
    divisors = padded if count_include_pad else [len(w) for w in windows]
    lists = {"kernel_size": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
             "count_include_pad": count_include_pad}  # fmt: skip
    x = numbers((2, 3, 11), dtype, 3)
    run(
        vendor, "diopiAvgPool1d", lambda input, **_: means(input, windows, divisors), dtype, layout,
        input=x, **lists,
    )  # fmt: skip
    run(
        vendor, "diopiAvgPool1dBackward",
        lambda grad_output, input, **_: spread(grad_output, 11, windows, divisors), dtype, layout,
        grad_output=numbers((2, 3, len(windows)), dtype, 4), input=x, **lists,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count", [1, 4, 11, 15])
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive(vendor: Vendor, dtype: str, count: int, layout: str) -> None:
    windows = adaptive_windows(11, count)
    divisors = [len(w) for w in windows]
    x, grad = numbers((2, 3, 11), dtype, 5), numbers((2, 3, count), dtype, 6)
    size = {"output_size": [count]}
    run(
        vendor, "diopiAdaptiveAvgPool1d", lambda input, **_: means(input, windows, divisors), dtype,
        layout, input=x, **size,
    )  # fmt: skip
    run(
        vendor, "diopiAdaptiveAvgPool1dBackward",
        lambda grad_output, input: spread(grad_output, 11, windows, divisors), dtype, layout,
        grad_output=grad, input=x,
    )  # fmt: skip
    run(
        vendor, "diopiAdaptiveMaxPool1dWithIndices", lambda input, **_: maxima(input, windows),
        dtype, layout, input=x, **size,
    )  # fmt: skip
    run(
        vendor, "diopiAdaptiveMaxPool1d",
        lambda input, **_: {"out": maxima(input, windows)["out"]}, dtype, layout, input=x, **size,
    )  # fmt: skip
    at = maxima(numbers((2, 3, 11), "float64", 5), windows)["indices"]
    run(
        vendor, "diopiAdaptiveMaxPool1dBackward",
        lambda grad_output, input, indices: put_back(grad_output, 11, indices), dtype, layout,
        grad_output=grad, input=x, indices=at,
    )  # fmt: skip
