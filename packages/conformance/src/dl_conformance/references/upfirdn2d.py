"""Upsampling, filtering and downsampling of images in one operator.

Source: Karras et al., Analyzing and improving the image quality of StyleGAN, 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _padded(values: Array, axis: int, before: int, behind: int) -> Array:
    """Pad an axis with zeros, or crop it for negative padding."""
    width = [(0, 0)] * values.ndim
    width[axis] = (max(before, 0), max(behind, 0))
    wide = np.pad(values, width)
    inside = [slice(None)] * values.ndim
    inside[axis] = slice(max(-before, 0), wide.shape[axis] - max(-behind, 0))
    return wide[tuple(inside)]


def _upsampled(values: Array, up: tuple[int, int]) -> Array:
    n, c, h, w = values.shape
    wide = np.zeros((n, c, h * up[0], w * up[1]), values.dtype)
    wide[:, :, :: up[0], :: up[1]] = values
    return wide


@reference("diopiUpfirdn2dOpMmcv")
def upfirdn(*, input: Array, kernel: Array, **given: int) -> dict[str, Any]:
    """Return the result of all steps: upsample, pad, filter and downsample."""
    up, down = ((given[f"{name}_y"], given[f"{name}_x"]) for name in ("up", "down"))
    image, cells = (_upsampled(x, up) for x in (input, np.ones(input.shape, np.int64)))
    for axis, d in ((2, "y"), (3, "x")):
        ends = given[f"pad_{d}0"], given[f"pad_{d}1"]
        image, cells = (_padded(x, axis, *ends) for x in (image, cells))
    outputs = tuple(n - k + 1 for n, k in zip(image.shape[2:], kernel.shape, strict=True))
    shape = (*input.shape[:2], *outputs)
    value, size = np.zeros(shape, np.longdouble), np.zeros(shape, np.longdouble)
    count = np.ones(shape, np.int64)
    flipped = kernel[::-1, ::-1]
    for i, j in np.ndindex(kernel.shape):
        at = (slice(None), slice(None), slice(i, i + outputs[0]), slice(j, j + outputs[1]))
        value += flipped[i, j] * image[at]
        size += np.abs(flipped[i, j] * image[at])
        count += cells[at]
    kept = (slice(None), slice(None), slice(None, None, down[0]), slice(None, None, down[1]))
    return {"out": Expected(value[kept], count[kept], size[kept])}
