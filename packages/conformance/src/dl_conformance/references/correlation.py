"""Correlation of two feature maps: products of windows with displaced windows.

Source: Dosovitskiy et al., FlowNet: Learning optical flow with convolutional networks, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

At = tuple[Any, ...]


def _windows(
    given: dict[str, int], sizes: tuple[int, int], output: tuple[int, ...]
) -> Iterator[tuple[At, At, At]]:
    """Yield the indices of all products in the first input, the second input and the output."""
    for n, ph, pw, h, w in np.ndindex(output):
        for i, j in np.ndindex(given["kH"], given["kW"]):
            y = h * given["dH"] - given["padH"] + i * given["dilationH"]
            x = w * given["dW"] - given["padW"] + j * given["dilationW"]
            v = y + (ph - (given["patchH"] - 1) // 2) * given["dilation_patchH"]
            u = x + (pw - (given["patchW"] - 1) // 2) * given["dilation_patchW"]
            if all(0 <= a < sizes[k % 2] for k, a in enumerate((y, x, v, u))):
                yield (n, slice(None), y, x), (n, slice(None), v, u), (n, ph, pw, h, w)


def _output(shape: tuple[int, ...], given: dict[str, int]) -> tuple[int, ...]:
    sizes = [
        (shape[2 + k] + 2 * given[f"pad{d}"] - (given[f"k{d}"] - 1) * given[f"dilation{d}"] - 1)
        // given[f"d{d}"]
        + 1
        for k, d in enumerate("HW")
    ]
    return (shape[0], given["patchH"], given["patchW"], *sizes)


@reference("diopiCorrelationMmcv")
def correlation(*, input1: Array, input2: Array, **given: int) -> dict[str, Any]:
    value = np.zeros(_output(input1.shape, given), input1.dtype)
    size = np.zeros_like(value)
    for a, b, o in _windows(given, input1.shape[2:], value.shape):
        value[o] += input1[a] @ input2[b]
        size[o] += np.abs(input1[a]) @ np.abs(input2[b])
    length = input1.shape[1] * given["kH"] * given["kW"]
    return {"output": Expected(value, length, size)}


@reference("diopiCorrelationBackwardMmcv")
def correlation_backward(
    *,
    grad_input1: Array,
    grad_input2: Array,
    grad_output: Array,
    input1: Array,
    input2: Array,
    **given: int,
) -> dict[str, Any]:
    found: list[list[Any]] = [
        [x.copy(), np.ones(x.shape, np.int64), np.abs(x)] for x in (grad_input1, grad_input2)
    ]
    for a, b, o in _windows(given, input1.shape[2:], grad_output.shape):
        for (value, count, size), at, other in zip(
            found, (a, b), (input2[b], input1[a]), strict=True
        ):
            value[at] += grad_output[o] * other
            count[at] += 1
            size[at] += np.abs(grad_output[o] * other)
    return {"grad_input1": Expected(*found[0]), "grad_input2": Expected(*found[1])}
