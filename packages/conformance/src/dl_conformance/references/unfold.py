"""Unfolding of image windows to columns, and the inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.references.convolution import Geometry

Sizes = tuple[int, ...]


def _columns(input: Array, geometry: Geometry) -> Array:
    batched = input if input.ndim == 4 else input[None]
    sizes = batched.shape[2:]
    outputs = geometry.outputs(sizes)
    padded = np.zeros((*batched.shape[:2], *geometry.padded(sizes)), input.dtype)
    padded[(slice(None), slice(None), *geometry.inside(sizes))] = batched
    taps = [padded[(slice(None), slice(None), *cells)] for _, cells in geometry.taps(outputs)]
    stacked = np.stack(taps, axis=2).reshape(batched.shape[0], -1, int(np.prod(outputs)))
    return stacked if input.ndim == 4 else stacked[0]


def _image(input: Array, sizes: Sizes, geometry: Geometry) -> Array:
    batched = input if input.ndim == 3 else input[None]
    outputs, taps = geometry.outputs(sizes), int(np.prod(geometry.kernel))
    parts = batched.reshape(batched.shape[0], -1, taps, *outputs)
    padded = np.zeros((*parts.shape[:2], *geometry.padded(sizes)), input.dtype)
    for at, (_, cells) in enumerate(geometry.taps(outputs)):
        padded[(slice(None), slice(None), *cells)] += parts[:, :, at]
    image = padded[(slice(None), slice(None), *geometry.inside(sizes))]
    return image if input.ndim == 3 else image[0]


@reference("diopiIm2Col")
def im2col(
    *, input: Array, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> dict[str, Any]:
    return {"out": _columns(input, Geometry(kernel_size, stride, padding, dilation))}


@reference("diopiCol2Im")
def col2im(
    *,
    input: Array,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes,
    padding: Sizes,
    stride: Sizes,
) -> dict[str, Any]:
    geometry = Geometry(kernel_size, stride, padding, dilation)
    value = _image(input, output_size, geometry)
    size = _image(np.abs(input), output_size, geometry)
    return {"out": Expected(value, int(np.prod(kernel_size)), size)}


@reference("diopiUnfold")
def unfold(*, input: Array, dim: int, size: int, step: int) -> dict[str, Any]:
    windows = np.lib.stride_tricks.sliding_window_view(input, size, axis=dim)
    every = tuple(
        slice(None, None, step if d == dim % input.ndim else 1) for d in range(input.ndim)
    )
    return {"out": windows[every]}


@reference("diopiUnfoldBackward")
def unfold_backward(
    *, grad_output: Array, input_sizes: Sizes, dim: int, size: int, step: int
) -> dict[str, Any]:
    value, total = np.zeros(input_sizes, grad_output.dtype), np.zeros(input_sizes, np.longdouble)
    lines, sums = np.moveaxis(value, dim, -1), np.moveaxis(total, dim, -1)
    windows = (
        np.moveaxis(grad_output, dim, -2)
        if dim % len(input_sizes) + 2 < grad_output.ndim
        else grad_output
    )
    for at in range(windows.shape[-2]):
        lines[..., at * step : at * step + size] += windows[..., at, :]
        sums[..., at * step : at * step + size] += np.abs(windows[..., at, :])
    return {"grad_input": Expected(value, size, total)}
