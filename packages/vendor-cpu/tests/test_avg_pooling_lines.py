"""Means of windows along a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from pooling_lines import RULES, Windows, adaptive_windows, windows_of
from referenced import Expected, run
from support import FLOATS, LAYOUTS, Array, numbers


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
def test_adaptive_means(vendor: Vendor, dtype: str, count: int, layout: str) -> None:
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
