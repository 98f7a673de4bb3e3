"""Exact means of bilinearly interpolated feature maps over the bins of regions, with gradients.

Source: Jiang et al., Acquisition of localization confidence for accurate object detection (precise
RoI pooling), 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.regions import Bins
from dl_conformance.sampling import POSITION, Sampled, Weights, tents


def _below(at: Any) -> Array:
    """Return the integral of the tent function from -1 up to a position."""
    t = np.clip(at, -1, 1)
    return np.asarray(np.where(t < 0, (1 + t) ** 2 / 2, 1 - (1 - t) ** 2 / 2))


@dataclass(frozen=True)
class Line:
    """Interval that a bin covers of a line of cells.

    :ivar low: start of the interval.
    :ivar high: end of the interval.
    :ivar number: index of the bin, and number of bins.
    :ivar terms: sum of the absolute values of the terms of its edges.
    """

    low: Any
    high: Any
    number: tuple[int, int]
    terms: Any
    size: int

    @property
    def length(self) -> Any:
        return self.high - self.low

    def means(self) -> tuple[Array, Array]:
        """Return the weight of each cell in the mean, and the magnitudes of its terms."""
        cells = np.arange(self.size)
        value = _below(self.high - cells) - _below(self.low - cells)
        near = (np.abs(self.low - cells) < 1) | (np.abs(self.high - cells) < 1)
        size = (value + near * self.terms) * (1 + self.terms / (self.length * self.number[1]))
        return value / self.length, size / self.length

    def edges(self) -> Iterator[tuple[Any, Array, Array, Any]]:
        """Yield both edges: sign in the length, weights of cells, magnitudes of their terms, and
        the edge's relative position in the region."""
        for at, sign, number in ((self.low, -1, 0), (self.high, 1, 1)):
            cells = np.arange(self.size)
            near = np.abs(at - cells) < 1
            value = tents(at, self.size)
            share = np.longdouble(self.number[0] + number) / self.number[1]
            yield sign, value, value + near * (self.terms + 1), share


def _lines(roi: Array, scale: Any, bins: Bins, shape: Bins) -> tuple[list[Line], list[Line]]:
    """Return the intervals along y and along x."""

    def along(low: Any, high: Any, count: int, size: int) -> list[Line]:
        step = np.maximum(high - low, 0) / count
        terms = np.abs(low) + np.abs(high)
        return [
            Line(low + i * step, low + (i + 1) * step, (i, count), terms, size)
            for i in range(count)
        ]

    x1, y1, x2, y2 = roi[1:] * np.longdouble(np.float32(scale))
    return along(y1, y2, bins[0], shape[0]), along(x1, x2, bins[1], shape[1])


def _covered(
    rois: Array, scale: Any, bins: Bins, shape: Bins
) -> Iterator[tuple[tuple[Any, ...], int, Line, Line]]:
    """Yield the bins with nonzero area: output index, batch, and both intervals."""
    for k, roi in enumerate(rois):
        rows, columns = _lines(roi, scale, bins, shape)
        for i, j in np.ndindex(*bins):
            if rows[i].length > 0 and columns[j].length > 0:
                yield (k, slice(None), i, j), int(roi[0]), rows[i], columns[j]


def _weights(row: Line, column: Line) -> Weights:
    (rows, row_sizes), (columns, column_sizes) = row.means(), column.means()
    return Weights(np.outer(rows, columns), np.outer(row_sizes, column_sizes))


@reference("diopiPrroiPoolMmcv")
def precise_pool(
    *, input: Array, rois: Array, pooled_height: int, pooled_width: int, spatial_scale: float
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    out = Sampled((len(rois), input.shape[1], *bins))
    for at, batch, row, column in _covered(rois, spatial_scale, bins, input.shape[2:]):
        taken = _weights(row, column)
        out.take(at, input[batch], taken)
        out.count[at] += np.count_nonzero(taken.size)
    return {"output": out.expected()}


@reference("diopiPrroiPoolbackwardMmcv")
def precise_pool_backward(
    *,
    grad_input: Array,
    grad_output: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    out = Sampled(grad_input.shape, grad_input)
    for at, batch, row, column in _covered(rois, spatial_scale, bins, grad_input.shape[2:]):
        out.give(batch, grad_output[at], _weights(row, column))
    return {"grad_input": out.expected()}


@reference("diopiPrroiPoolCoorBackwardMmcv")
def precise_pool_corners(
    *,
    grad_rois: Array,
    output: Array,
    grad_output: Array,
    input: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> dict[str, Any]:
    """Return the gradient of the region.

    The mean of a bin is an integral divided by an area. Moving an edge outwards adds the mean along
    the edge to the integral and enlarges the area, so the derivative is the difference to the bin's
    mean.
    """
    bins, scale = (pooled_height, pooled_width), np.float32(spatial_scale)
    value, size = grad_rois.copy(), np.abs(grad_rois)
    count = np.full(value.shape, POSITION, np.int64)
    for at, batch, row, column in _covered(rois, scale, bins, input.shape[2:]):
        k, grads = at[0], grad_output[at]
        for axis, (moved, other) in enumerate(((column, row), (row, column))):
            planes = np.moveaxis(input[batch], 1 + axis, 1)  # [C, other, moved]
            weights, weight_sizes = other.means()
            # Relative to the length, which has the error of the region's corners.
            factor = scale / moved.length
            unsure = 1 + moved.terms / (moved.length * moved.number[1])
            for sign, cells, cell_sizes, share in moved.edges():
                edge = np.einsum("com,o,m->c", planes, weights, cells)
                edge_size = np.einsum("com,o,m->c", np.abs(planes), weight_sizes, cell_sizes)
                term = sign * np.sum(grads * (edge - output[at])) * factor
                terms = np.sum(np.abs(grads) * (edge_size + np.abs(output[at]))) * factor * unsure
                for corner, part in ((1 + axis, 1 - share), (3 + axis, share)):
                    value[k, corner] += term * part
                    size[k, corner] += np.abs(terms) * part
                    count[k, corner] += len(grads) * (2 + np.count_nonzero(weights))
    return {"grad_rois": Expected(value, count, size)}
