"""Max pooling, its indices, and its gradients."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.windows import Sizes, adaptive, picked, positions, several, sliding


def _pooled(input: Array, outputs: Sizes, places: Iterable[Any]) -> dict[str, Array]:
    dims = len(outputs)
    shape, spatial = input.shape[:-dims] + outputs, input.shape[-dims:]
    values, indices = np.zeros(shape, input.dtype), np.zeros(shape, np.int64)
    for place, cells in places:
        window = picked(input, cells)
        first = np.argmax(window, axis=-1)
        chosen = np.take_along_axis(window, first[..., None], axis=-1)[..., 0]
        values[(..., *place)] = chosen
        indices[(..., *place)] = positions(spatial, cells)[first]
    return {"out": values, "indices": indices}


def _sliding(input: Array, dims: int, arguments: dict[str, Any]) -> dict[str, Array]:
    kernel = several(arguments["kernel_size"], dims)
    stride = several(arguments["stride"], dims, kernel)
    padding, dilation = (several(arguments[x], dims) for x in ("padding", "dilation"))
    spatial, ceil = input.shape[-dims:], arguments["ceil_mode"]
    return _pooled(input, *sliding(spatial, kernel, stride, padding, dilation, ceil))


def _declare(dims: int) -> None:
    suffix = f"{dims}d"

    @reference(f"diopiMaxPool{suffix}")
    def pool(*, input: Array, **arguments: Any) -> dict[str, Any]:
        return {"out": _sliding(input, dims, arguments)["out"]}

    @reference(f"diopiMaxPool{suffix}WithIndices")
    def pool_with_indices(*, input: Array, **arguments: Any) -> dict[str, Any]:
        return dict(_sliding(input, dims, arguments))

    @reference(f"diopiAdaptiveMaxPool{suffix}")
    def adaptive_pool(*, input: Array, output_size: Sizes) -> dict[str, Any]:
        places = adaptive(input.shape[-dims:], output_size)
        return {"out": _pooled(input, output_size, places)["out"]}

    @reference(f"diopiAdaptiveMaxPool{suffix}WithIndices")
    def adaptive_pool_with_indices(*, input: Array, output_size: Sizes) -> dict[str, Any]:
        return dict(_pooled(input, output_size, adaptive(input.shape[-dims:], output_size)))

    @reference(f"diopiMaxPool{suffix}Backward", f"diopiAdaptiveMaxPool{suffix}Backward")
    def backward(
        *, grad_output: Array, input: Array, indices: Array | None, **arguments: Any
    ) -> dict[str, Any]:
        if indices is None:
            indices = _sliding(input, dims, arguments)["indices"]
        plane = prod(input.shape[-dims:])
        lead = prod(input.shape[:-dims])
        value = np.zeros((lead, plane), grad_output.dtype)
        size = np.zeros_like(value)
        for row in range(lead):
            at = indices.reshape(lead, -1)[row]
            np.add.at(value[row], at, grad_output.reshape(lead, -1)[row])
            np.add.at(size[row], at, np.abs(grad_output).reshape(lead, -1)[row])
        length = prod(indices.shape[-dims:])
        return {
            "grad_input": Expected(value.reshape(input.shape), length, size.reshape(input.shape))
        }


for _dims in (1, 2, 3):
    _declare(_dims)
