"""Average pooling and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.windows import Sizes, adaptive, picked, several, sliding


def _divisors(spatial: Sizes, arguments: dict[str, Any]) -> tuple[Sizes, Iterator[Any]]:
    """Return the output shape, and for each output index its cells and the divisor of their sum."""
    dims = len(spatial)
    kernel = several(arguments["kernel_size"], dims)
    stride = several(arguments["stride"], dims, kernel)
    padding = several(arguments["padding"], dims)
    ceil, override = arguments["ceil_mode"], arguments.get("divisor_override")
    outputs, places = sliding(spatial, kernel, stride, padding, (1,) * dims, ceil)

    def each() -> Iterator[Any]:
        for place, cells in places:
            count = prod(len(x) for x in cells)
            if override is not None:
                count = override
            elif arguments["count_include_pad"]:
                # Cells beyond the padding, which only ceil_mode reaches, do not count.
                firsts = (i * s - p for i, s, p in zip(place, stride, padding, strict=True))
                sides = zip(firsts, kernel, spatial, padding, strict=True)
                count = prod(min(first + k, n + p) - first for first, k, n, p in sides)
            yield place, cells, count

    return outputs, each()


def _adaptive(spatial: Sizes, outputs: Sizes) -> Iterator[Any]:
    for place, cells in adaptive(spatial, outputs):
        yield place, cells, prod(len(x) for x in cells)


def _pooled(input: Array, outputs: Sizes, places: Iterator[Any]) -> dict[str, Any]:
    value = np.zeros(input.shape[: -len(outputs)] + outputs, input.dtype)
    size, length = np.zeros_like(value), 1
    for place, cells, count in places:
        window = picked(input, cells)
        value[(..., *place)] = window.sum(axis=-1) / count
        size[(..., *place)] = np.abs(window).sum(axis=-1) / count
        length = max(length, window.shape[-1])
    return {"out": Expected(value, length, size)}


def _spread(grad: Array, input: Array, places: Iterator[Any]) -> dict[str, Any]:
    value, size = np.zeros(input.shape, grad.dtype), np.zeros(input.shape, grad.dtype)
    length = np.zeros(input.shape, np.int64)
    for place, cells, count in places:
        at: Any = (..., *np.ix_(*cells))
        share = (grad[(..., *place)] / count)[(..., *(None for _ in cells))]
        value[at] += share
        size[at] += np.abs(share)
        length[at] += 1
    return {"grad_input": Expected(value, np.maximum(length, 1), size)}


def _declare(dims: int) -> None:
    @reference(f"diopiAvgPool{dims}d")
    def pool(*, input: Array, **arguments: Any) -> dict[str, Any]:
        return _pooled(input, *_divisors(input.shape[-dims:], arguments))

    @reference(f"diopiAvgPool{dims}dBackward")
    def backward(*, grad_output: Array, input: Array, **arguments: Any) -> dict[str, Any]:
        return _spread(grad_output, input, _divisors(input.shape[-dims:], arguments)[1])

    @reference(f"diopiAdaptiveAvgPool{dims}d")
    def adaptive_pool(*, input: Array, output_size: Sizes) -> dict[str, Any]:
        return _pooled(input, output_size, _adaptive(input.shape[-dims:], output_size))

    @reference(f"diopiAdaptiveAvgPool{dims}dBackward")
    def adaptive_backward(*, grad_output: Array, input: Array) -> dict[str, Any]:
        places = _adaptive(input.shape[-dims:], grad_output.shape[-dims:])
        return _spread(grad_output, input, places)


for _dims in (1, 2, 3):
    _declare(_dims)
