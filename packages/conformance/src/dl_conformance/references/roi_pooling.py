"""Pooling over regions of feature maps: max pooling and deformable pooling, with gradients.

Sources: Girshick, Fast R-CNN, 2015; Dai et al., Deformable convolutional networks (deformable RoI
pooling), 2017. The corners of a region follow MMCV.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.regions import Bins, Grid
from dl_conformance.sampling import Sampled, Weights, bordered, slopes, tents


def _cells(low: Fraction, high: Fraction, bins: int, size: int) -> list[range]:
    """Return the cells that each bin overlaps."""
    step = max(high - low, Fraction(0)) / bins
    edges = [(floor(low + i * step), ceil(low + (i + 1) * step)) for i in range(bins)]
    if step == 0:
        return [range(0)] * bins
    return [range(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]


@reference("diopiRoiPoolMmcv")
def roi_pool(
    *, input: Array, rois: Array, pooled_height: int, pooled_width: int, spatial_scale: float
) -> dict[str, Any]:
    """Return bin edges as rational numbers, so that an edge on a cell border is exact."""
    shape = (len(rois), input.shape[1], pooled_height, pooled_width)
    value, places = np.zeros(shape, np.longdouble), np.full(shape, -1, np.int32)
    height, width = input.shape[2:]
    scale = Fraction(float(np.float32(spatial_scale)))
    for k, roi in enumerate(rois):
        x1, y1, x2, y2 = (Fraction(float(x)) for x in roi[1:])
        rows = _cells(y1 * scale, (y2 + 1) * scale, pooled_height, height)
        columns = _cells(x1 * scale, (x2 + 1) * scale, pooled_width, width)
        for row, column in np.ndindex(pooled_height, pooled_width):
            if not rows[row] or not columns[column]:
                continue
            numbers = np.array([y * width + x for y in rows[row] for x in columns[column]])
            cells = input[int(roi[0])].reshape(-1, height * width)[:, numbers]
            # argmax selects the first NaN, or else the first maximum.
            first = np.argmax(cells, axis=1)
            value[k, :, row, column] = cells[np.arange(len(cells)), first]
            places[k, :, row, column] = numbers[first]
    return {"output": value, "argmax": places}


@reference("diopiRoiPoolBackwardMmcv")
def roi_pool_backward(
    *,
    grad_input: Array,
    grad_output: Array,
    rois: Array,
    argmax: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> dict[str, Any]:
    out, size = grad_input.copy(), np.abs(grad_input)
    count = np.ones(out.shape, np.int64)
    for at in np.ndindex(grad_output.shape):
        if argmax[at] >= 0:
            y, x = divmod(int(argmax[at]), grad_input.shape[3])
            to = (int(rois[at[0], 0]), at[1], y, x)
            out[to] += grad_output[at]
            size[to] += np.abs(grad_output[at])
            count[to] += 1
    return {"grad_input": Expected(out, count, size)}


@dataclass(frozen=True)
class Moved:
    """Samples of regions with bins that are offset by a fraction of the region's size."""

    grids: list[Grid]
    offset: Array | None
    gamma: Any

    @classmethod
    def of(
        cls, rois: Array, offset: Array | None, bins: Bins, ratio: int, scale: float, gamma: float
    ) -> Moved:
        grids = [Grid.upright(roi, bins, ratio, np.float32(scale), True) for roi in rois]
        given = None if offset is None or offset.size == 0 else offset
        return cls(grids, given, np.longdouble(np.float32(gamma)))

    def samples(self) -> Iterator[tuple[tuple[Any, ...], Grid, tuple[Any, ...], Any]]:
        """Yield for each sample its output index, region, y, x, the magnitudes of their terms, and
        its share of the mean."""
        for k, grid in enumerate(self.grids):
            share = np.longdouble(1) / max(grid.samples[0] * grid.samples[1], 1)
            for row, column in np.ndindex(*grid.bins):
                move = np.zeros(2, np.longdouble)
                if self.offset is not None:
                    move = self.gamma * grid.size * self.offset[k, :, row, column]
                there = replace(grid, centre=grid.centre + move)
                more = np.abs(move) + np.abs(grid.centre)
                for y, x, of_y, of_x in there.positions(row, column):
                    place = (y, x, of_y + more[1], of_x + more[0])
                    yield (k, slice(None), row, column), grid, place, share


@reference("diopiDeformRoiPoolMmcv")
def deformable_pool(
    *,
    input: Array,
    rois: Array,
    offset: Array | None,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    gamma: float,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    out = Sampled((len(rois), input.shape[1], *bins))
    moved = Moved.of(rois, offset, bins, sampling_ratio, spatial_scale, gamma)
    for at, grid, (y, x, of_y, of_x), share in moved.samples():
        out.take(at, input[grid.batch], bordered(y, x, input.shape[2:], of_y, of_x, share))
    return {"output": out.expected()}


@reference("diopiDeformRoiPoolBackwardMmcv")
def deformable_pool_backward(
    *,
    grad_input: Array,
    grad_offset: Array | None,
    grad_output: Array,
    input: Array,
    rois: Array,
    offset: Array | None,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    gamma: float,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    moved = Moved.of(rois, offset, bins, sampling_ratio, spatial_scale, gamma)
    out = Sampled(grad_input.shape, grad_input)
    moves = None if grad_offset is None else Sampled(grad_offset.shape, grad_offset)
    for at, grid, (y, x, of_y, of_x), share in moved.samples():
        grads, shape = grad_output[at], input.shape[2:]
        out.give(grid.batch, grads, bordered(y, x, shape, of_y, of_x, share))
        if moves is None or moved.offset is None:
            continue
        planes = input[grid.batch]
        along = np.einsum("c,chw->hw", grads, planes)
        sizes = np.einsum("c,chw->hw", np.abs(grads), np.abs(planes))
        for axis, factor in enumerate(moved.gamma * grid.size * share):
            taken = _slope(y, x, shape, of_y, of_x, axis)
            to = (at[0], axis, *at[2:])
            moves.value[to] += factor * np.sum(along * taken.value)
            moves.size[to] += np.abs(factor) * np.sum(sizes * taken.size)
            moves.count[to] += 4 * len(grads)
    found = None if moves is None else moves.expected()
    return {"grad_input": out.expected(), "grad_offset": found}


def _slope(y: Any, x: Any, shape: Bins, of_y: Any, of_x: Any, axis: int) -> Weights:
    """Return derivatives of the weights by x (axis 0) or y; 0 beyond the border."""
    at, last, size = ((x, shape[1] - 1, shape[1]), (y, shape[0] - 1, shape[0]))[axis]
    other, of, count = ((y, of_y, shape[0]), (x, of_x, shape[1]))[axis]
    beyond = not (-1 <= y <= shape[0] and -1 <= x <= shape[1])
    line = np.zeros(size, np.longdouble) if beyond or not 0 < at < last else slopes(at, size)
    inside = min(max(other, 0), count - 1)
    rest = tents(inside, count)
    rest_size = rest + (np.abs(inside - np.arange(count)) < 1) * (np.abs(other) + of)
    if axis == 0:
        return Weights(np.outer(rest, line), np.outer(rest_size, np.abs(line)))
    return Weights(np.outer(line, rest), np.outer(np.abs(line), rest_size))
