"""Regions of feature maps, sampled on axis-aligned grids.

Source: He et al., Mask R-CNN, 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.regions import Grid, largest, pooled, spread
from dl_conformance.sampling import Sampled, bordered


def _grids(rois: Array, bins: tuple[int, int], ratio: int, scale: Any, aligned: bool) -> list[Grid]:
    return [Grid.upright(roi, bins, ratio, scale, aligned) for roi in rois]


@reference("diopiRoiAlign")
def roi_align(
    *,
    input: Array,
    rois: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    grids = _grids(rois, bins, sampling_ratio, spatial_scale, aligned)
    return {"out": pooled(input, grids).expected()}


@reference("diopiRoiAlignBackward")
def roi_align_backward(
    *,
    grad: Array,
    rois: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    grids = _grids(rois, bins, sampling_ratio, spatial_scale, aligned)
    before = np.zeros((batch_size, channels, height, width), np.longdouble)
    return {"out": spread(before, grad, grids).expected()}


@reference("diopiRoiAlignMmcv")
def roi_align_mmcv(
    *,
    input: Array,
    rois: Array,
    aligned_height: int,
    aligned_width: int,
    sampling_ratio: int,
    pool_mode: int,
    spatial_scale: float,
    aligned: bool,
) -> dict[str, Any]:
    """Return the largest sample and its position for ``pool_mode`` 0, or the mean for 1."""
    bins = (aligned_height, aligned_width)
    grids = _grids(rois, bins, sampling_ratio, np.float32(spatial_scale), aligned)
    if pool_mode == 1:
        nothing = np.zeros(0)
        found = pooled(input, grids).expected()
        return {"output": found, "argmax_y": nothing, "argmax_x": nothing}
    value, (ys, of_y), (xs, of_x) = largest(input, grids)
    return {
        "output": value,
        "argmax_y": Expected(ys, 8, of_y + np.abs(ys)),
        "argmax_x": Expected(xs, 8, of_x + np.abs(xs)),
    }


@reference("diopiRoiAlignBackwardMmcv")
def roi_align_backward_mmcv(
    *,
    grad_input: Array,
    grad_output: Array,
    rois: Array,
    argmax_y: Array,
    argmax_x: Array,
    aligned_height: int,
    aligned_width: int,
    sampling_ratio: int,
    pool_mode: int,
    spatial_scale: float,
    aligned: bool,
) -> dict[str, Any]:
    if pool_mode == 1:
        bins = (aligned_height, aligned_width)
        grids = _grids(rois, bins, sampling_ratio, np.float32(spatial_scale), aligned)
        return {"grad_input": spread(grad_input, grad_output, grids).expected()}
    out = Sampled(grad_input.shape, grad_input)
    for at in np.ndindex(grad_output.shape):
        taken = bordered(argmax_y[at], argmax_x[at], grad_input.shape[2:])
        out.give((int(rois[at[0], 0]), at[1]), grad_output[at], taken)
    return {"grad_input": out.expected()}


def _border(box: Array, side: int, steps: int) -> list[tuple[Any, Any]]:
    """Return positions y, x along one border: top, left, bottom, right; the last two reversed."""
    x1, y1, x2, y2 = box
    along = [np.longdouble(i) / steps for i in range(steps + 1)]
    if side == 0:
        return [(y1, x1 + t * (x2 - x1)) for t in along]
    if side == 1:
        return [(y1 + t * (y2 - y1), x1) for t in along]
    if side == 2:
        return [(y2, x2 - t * (x2 - x1)) for t in along]
    return [(y2 - t * (y2 - y1), x2) for t in along]


@reference("diopiBorderAlignMmcv")
def border_align(*, input: Array, boxes: Array, pool_size: int) -> dict[str, Any]:
    """Source: Qiu et al., BorderDet: Border feature for dense object detection, 2020."""
    channels = input.shape[1] // 4
    value = np.zeros((len(input), channels, boxes.shape[1], 4), np.longdouble)
    size, places = np.zeros_like(value), np.zeros(value.shape, np.int32)
    for at in np.ndindex(value.shape):
        n, c, k, side = at
        terms = np.abs(boxes[n, k]).sum()
        samples = []
        for y, x in _border(boxes[n, k], side, pool_size):
            taken = bordered(y, x, input.shape[2:], terms, terms)
            plane = input[n, side * channels + c]
            samples.append((np.sum(plane * taken.value), np.sum(np.abs(plane) * taken.size)))
        places[at] = int(np.argmax([sample for sample, _ in samples]))
        value[at], size[at] = samples[places[at]][0], max(terms for _, terms in samples)
    return {"output": Expected(value, 16, size), "argmax_idx": places}


@reference("diopiBorderAlignBackwardMmcv")
def border_align_backward(
    *, grad_input: Array, grad_output: Array, boxes: Array, argmax_idx: Array, pool_size: int
) -> dict[str, Any]:
    channels = grad_input.shape[1] // 4
    out = Sampled(grad_input.shape, grad_input)
    for at in np.ndindex(grad_output.shape):
        n, c, k, side = at
        y, x = _border(boxes[n, k], side, pool_size)[int(argmax_idx[at])]
        terms = np.abs(boxes[n, k]).sum()
        taken = bordered(y, x, grad_input.shape[2:], terms, terms)
        out.give((n, side * channels + c), grad_output[at], taken)
    return {"grad_input": out.expected()}
