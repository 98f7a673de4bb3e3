"""Sampling grids of regions of feature maps, axis-aligned or rotated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .reference import Array, Expected
from .sampling import Sampled, Weights, bordered

Position = tuple[Any, Any, Any, Any]
"""y, x, and the magnitudes of the terms of each."""
Bins = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Sampling grid of a region.

    :ivar centre: x and y of the center.
    :ivar size: width and height.
    :ivar angle: rotation, counter-clockwise with y pointing down.
    :ivar samples: numbers of rows and columns of samples in each bin.
    """

    batch: int
    bins: Bins
    centre: Array
    size: Array
    angle: Any
    samples: tuple[int, int]

    @classmethod
    def upright(cls, roi: Array, bins: Bins, ratio: int, scale: Any, aligned: bool) -> Grid:
        """Create the grid of an axis-aligned region (batch, left, top, right, bottom)."""
        shift = 0.5 if aligned else 0.0
        low, high = roi[1:3] * scale - shift, roi[3:5] * scale - shift
        size = high - low if aligned else np.maximum(high - low, 1)
        middle = low + size / 2
        return cls(int(roi[0]), bins, middle, size, np.longdouble(0), _count(size, bins, ratio))

    @classmethod
    def rotated(
        cls, roi: Array, bins: Bins, ratio: int, scale: Any, aligned: bool, clockwise: bool
    ) -> Grid:
        """Create the grid of a rotated region (batch, center x, center y, width, height, angle)."""
        size = roi[3:5] * scale if aligned else np.maximum(roi[3:5] * scale, 1)
        middle = roi[1:3] * scale - (0.5 if aligned else 0.0)
        angle = -roi[5] if clockwise else roi[5]
        return cls(int(roi[0]), bins, middle, size, angle, _count(size, bins, ratio))

    def positions(self, row: int, column: int) -> Iterator[Position]:
        """Yield the positions of the samples of a bin."""
        cos, sin = np.cos(self.angle), np.sin(self.angle)
        terms = np.abs(self.size).sum() + 1
        for iy, ix in np.ndindex(*self.samples):
            v = (row + (iy + np.longdouble(0.5)) / self.samples[0]) / self.bins[0] - 0.5
            u = (column + (ix + np.longdouble(0.5)) / self.samples[1]) / self.bins[1] - 0.5
            x, y = u * self.size[0], v * self.size[1]
            # Rotate by -angle, because y points down.
            across, down = x * cos + y * sin, y * cos - x * sin
            sizes = np.abs(self.centre) + terms
            yield self.centre[1] + down, self.centre[0] + across, sizes[1], sizes[0]


def _count(size: Array, bins: Bins, ratio: int) -> tuple[int, int]:
    if ratio > 0:
        return ratio, ratio
    wide, high = size / [bins[1], bins[0]]
    return max(int(np.ceil(high)), 0), max(int(np.ceil(wide)), 0)


Taken = Iterator[tuple[tuple[Any, ...], int, Weights]]


def mean_weights(grids: list[Grid], shape: tuple[int, int]) -> Taken:
    """Yield the output index of each bin, its batch, and the weights of cells in its mean."""
    for k, grid in enumerate(grids):
        share = np.longdouble(1) / max(grid.samples[0] * grid.samples[1], 1)
        for row, column in np.ndindex(*grid.bins):
            for y, x, of_y, of_x in grid.positions(row, column):
                taken = bordered(y, x, shape, of_y, of_x, share)
                yield (k, slice(None), row, column), grid.batch, taken


def pooled(planes: Array, grids: list[Grid]) -> Sampled:
    """Return the mean of the samples of each bin, [K, C, h, w]."""
    out = Sampled((len(grids), planes.shape[1], *grids[0].bins))
    for at, batch, taken in mean_weights(grids, planes.shape[2:]):
        out.take(at, planes[batch], taken)
    return out


def spread(before: Array, grad: Array, grids: list[Grid]) -> Sampled:
    """Add the gradient of each bin to all cells that contribute to its mean."""
    out = Sampled(before.shape, before)
    for at, batch, taken in mean_weights(grids, before.shape[2:]):
        out.give(batch, grad[at], taken)
    return out


def largest(
    planes: Array, grids: list[Grid]
) -> tuple[Expected, tuple[Array, Array], tuple[Array, Array]]:
    """Return the largest sample of each bin, and its y and x with the magnitudes of their terms."""
    shape = (len(grids), planes.shape[1], *grids[0].bins)
    value, size = np.full(shape, -np.inf, np.longdouble), np.zeros(shape, np.longdouble)
    ys, xs, of_y, of_x = (np.zeros(shape, np.longdouble) for _ in range(4))
    for k, grid in enumerate(grids):
        for row, column in np.ndindex(*grid.bins):
            at = (k, slice(None), row, column)
            for place in grid.positions(row, column):
                taken = bordered(*place[:2], planes.shape[2:], *place[2:])
                sample = np.einsum("chw,hw->c", planes[grid.batch], taken.value)
                terms = np.einsum("chw,hw->c", np.abs(planes[grid.batch]), taken.size)
                more = sample > value[at]
                value[at] = np.where(more, sample, value[at])
                # The maximum is as inaccurate as the most inaccurate sample.
                size[at] = np.maximum(size[at], terms)
                for kept, number in zip((ys, xs, of_y, of_x), place, strict=True):
                    kept[at] = np.where(more, number, kept[at])
    return Expected(value, 16, np.maximum(size, np.abs(value))), (ys, of_y), (xs, of_x)
