"""Maxima of windows along a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from pooling_lines import RULES, Windows, adaptive_windows, windows_of
from referenced import Expected, run
from support import FLOATS, LAYOUTS, NUMBERS, Array, numbers


def maxima(input: Array, windows: Windows) -> dict[str, Array]:
    at = np.stack([np.array(w)[input[..., w].argmax(-1)] for w in windows], axis=-1)
    return {"out": np.take_along_axis(input, at, -1), "indices": at}


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
@pytest.mark.parametrize("count", [1, 4, 11, 15])
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive(vendor: Vendor, dtype: str, count: int, layout: str) -> None:
    windows = adaptive_windows(11, count)
    x, grad = numbers((2, 3, 11), dtype, 5), numbers((2, 3, count), dtype, 6)
    size = {"output_size": [count]}
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
