"""Max or average pooling in one operator, and its gradient.

Windows are those of PyTorch's MaxPool and AvgPool; average pooling with dilation follows ONNX's
AveragePool (opset 19).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.windows import Sizes, adaptive, picked, positions, several, sliding


def _every(place: Sizes) -> Any:
    """Return the index of an output in every plane."""
    return (..., *place)


def _windows(
    spatial: Sizes, outputs: Sizes | None, arguments: dict[str, Any]
) -> tuple[Sizes, Iterator[tuple[Sizes, list[Array], int]]]:
    """Return the output shape, and for each output index its cells and the divisor of the mean."""
    dims = len(spatial)
    if arguments["adaptive"]:
        assert outputs is not None
        return outputs, (
            (place, cells, prod(map(len, cells))) for place, cells in adaptive(spatial, outputs)
        )
    kernel = several(arguments["ksize"], dims)
    stride = several(arguments["stride"], dims, kernel)
    padding, steps = (several(arguments[x], dims) for x in ("padding", "dilation"))
    dilation = tuple(max(step, 1) for step in steps)
    found, places = sliding(spatial, kernel, stride, padding, dilation, arguments["ceil_mode"])

    def each() -> Iterator[tuple[Sizes, list[Array], int]]:
        for place, cells in places:
            count = prod(map(len, cells))
            if not arguments["exclusive"]:
                # Cells beyond the padding, which only ceil_mode reaches, do not count.
                sides = zip(place, spatial, kernel, stride, padding, dilation, strict=True)
                count = prod(
                    int(np.sum(at * s - p + np.arange(k) * d < n + p))
                    for at, n, k, s, p, d in sides
                )
            yield place, cells, count

    return found, each()


def _pooled(input: Array, dims: int, arguments: dict[str, Any]) -> Expected:
    sizes = arguments["output_size"]
    outputs = None if sizes is None else several(sizes, dims)
    outputs, places = _windows(input.shape[-dims:], outputs, arguments)
    value: Array = np.zeros(input.shape[:-dims] + outputs, input.dtype)
    size: Array = np.zeros_like(value)
    longest = 1
    for place, cells, count in places:
        window, at = picked(input, cells), _every(place)
        if arguments["mode"] == "max":
            value[at] = window.max(axis=-1)
            continue
        value[at] = window.sum(axis=-1) / count
        size[at] = np.abs(window).sum(axis=-1) / count
        longest = max(longest, window.shape[-1])
    return Expected(value, longest, size) if arguments["mode"] == "avg" else Expected(value)


def _spread(grad: Array, input: Array, dims: int, arguments: dict[str, Any]) -> Expected:
    spatial = input.shape[-dims:]
    lead, plane = prod(input.shape[:-dims]), prod(spatial)
    value, size = np.zeros((2, lead, plane), grad.dtype)
    length = np.zeros((lead, plane), np.int64)
    taken, rows = arguments["indices"], np.arange(lead)
    for place, cells, count in _windows(spatial, grad.shape[-dims:], arguments)[1]:
        share: Array = grad[_every(place)].reshape(lead, 1)
        at = positions(spatial, cells)
        if arguments["mode"] == "avg":
            share = share / count
        elif taken is not None:
            at = taken[_every(place)].reshape(lead, 1)
        else:
            at = at[np.argmax(picked(input, cells), axis=-1)].reshape(lead, 1)
        where = (rows[:, None], at)
        np.add.at(value, where, np.broadcast_to(share, np.broadcast(*where).shape))
        np.add.at(size, where, np.broadcast_to(np.abs(share), np.broadcast(*where).shape))
        np.add.at(length, where, 1)
    shape = input.shape
    return Expected(value.reshape(shape), np.maximum(length, 1).reshape(shape), size.reshape(shape))


def _declare(dims: int) -> None:
    @reference(f"diopiPool{dims}d")
    def pool(*, input: Array, **arguments: Any) -> dict[str, Any]:
        return {"out": _pooled(input, dims, arguments)}

    @reference(f"diopiPool{dims}dBackward")
    def backward(*, grad_output: Array, input: Array, **arguments: Any) -> dict[str, Any]:
        return {"grad_input": _spread(grad_output, input, dims, arguments)}


for _dims in (1, 2, 3):
    _declare(_dims)
