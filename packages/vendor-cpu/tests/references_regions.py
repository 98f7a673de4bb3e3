"""References of samples in regions: a plane between its cells is the sum of tents over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from referenced import Expected
from references import reference, transposed
from support import Array


def tents(at: float, size: int) -> Array:
    return np.maximum(0, 1 - np.abs(at - np.arange(size)))


def surface(plane: Any, y: float, x: float) -> Any:
    """Of planes [..., H, W] at one place: the border goes on for one cell, then there are zeros."""
    height, width = plane.shape[-2:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(plane.shape[:-2])
    rows = tents(min(max(y, 0), height - 1), height)
    return plane @ tents(min(max(x, 0), width - 1), width) @ rows


class Grid:
    """The samples of the bins of a region, upright or turned."""

    def __init__(self, roi: Any, scale: float, bins: tuple[int, int], ratio: int, aligned: bool,
                 clockwise: bool | None = None, forced: bool = False) -> None:  # fmt: skip
        shift = 0.5 if aligned else 0.0
        self.bins, self.turned = bins, clockwise is not None
        if self.turned:
            self.centre = roi[1:3] * scale - shift
            self.size = roi[3:5] * scale
            self.angle = -roi[5] if clockwise else roi[5]
        else:
            low, high = roi[1:3] * scale - shift, roi[3:5] * scale - shift
            self.size, self.angle = high - low, 0.0
            if forced:
                self.size = np.maximum(self.size, 1)
            self.centre = low + self.size / 2
        if forced:
            self.size = np.maximum(self.size, 1)
        wide, high_ = self.size / [bins[1], bins[0]]
        self.rows = ratio if ratio > 0 else max(int(np.ceil(high_)), 0)
        self.columns = ratio if ratio > 0 else max(int(np.ceil(wide)), 0)

    def samples(self, row: int, column: int) -> Iterator[tuple[float, float]]:
        """Places y, x in one bin."""
        for iy in range(self.rows):
            for ix in range(self.columns):
                v = (row + (iy + 0.5) / self.rows) / self.bins[0] - 0.5
                u = (column + (ix + 0.5) / self.columns) / self.bins[1] - 0.5
                # With y downwards, turning counter-clockwise is turning by -angle.
                turn = complex(u * self.size[0], v * self.size[1]) * np.exp(-1j * self.angle)
                yield self.centre[1] + turn.imag, self.centre[0] + turn.real


def pooled(planes: Any, grids: Any, rois: Any, combine: Callable[[Any], Any]) -> Array:
    """[K, C, h, w] of `combine` of the samples [S, C] of each bin."""
    bins = grids[0].bins
    out = np.zeros((len(grids), planes.shape[1], *bins))
    for k, grid in enumerate(grids):
        for row, column in np.ndindex(bins):
            places = list(grid.samples(row, column))
            taken = [surface(planes[int(rois[k, 0])], y, x) for y, x in places]
            out[k, :, row, column] = combine(np.array(taken)) if taken else 0
    return out


def mean(planes: Any, grids: Any, rois: Any) -> Array:
    return pooled(planes, grids, rois, lambda taken: taken.mean(0))


def both(forward: Callable[[Any], Array], planes: Any) -> Expected:
    """A linear function of planes, with the magnitude of its terms."""
    return Expected(forward(planes), 64, forward(np.abs(planes)) + 1)


def backward(forward: Callable[[Any], Array], before: Any, grad: Any) -> Expected:
    value = transposed(forward, before.shape, grad)
    size = transposed(forward, before.shape, np.abs(grad)) + np.abs(before)
    return Expected(before + value, 256, size + 1)


def upright(rois: Any, bins: tuple[int, int], ratio: int, scale: float, aligned: bool) -> Any:
    return [Grid(roi, scale, bins, ratio, aligned, forced=not aligned) for roi in rois]


def turned(
    rois: Any, bins: tuple[int, int], ratio: int, scale: float, aligned: bool, clockwise: bool
) -> Any:
    return [Grid(roi, scale, bins, ratio, aligned, clockwise, not aligned) for roi in rois]


@reference("diopiRoiAlign")
def roi_align(*, input: Any, rois: Any, spatial_scale: float, pooled_height: int,
              pooled_width: int, sampling_ratio: int, aligned: bool) -> dict[str, Any]:  # fmt: skip
    grids = upright(rois, (pooled_height, pooled_width), sampling_ratio, spatial_scale, aligned)
    return {"out": both(lambda planes: mean(planes, grids, rois), input)}


@reference("diopiRoiAlignBackward")
def roi_align_backward(*, grad: Any, rois: Any, spatial_scale: float, pooled_height: int,
                       pooled_width: int, batch_size: int, channels: int, height: int, width: int,
                       sampling_ratio: int, aligned: bool) -> dict[str, Any]:  # fmt: skip
    grids = upright(rois, (pooled_height, pooled_width), sampling_ratio, spatial_scale, aligned)
    before = np.zeros((batch_size, channels, height, width))
    return {"out": backward(lambda planes: mean(planes, grids, rois), before, grad)}


def bins_of(given: dict[str, Any]) -> tuple[int, int]:
    if "aligned_height" in given:
        return given["aligned_height"], given["aligned_width"]
    return given["pooled_height"], given["pooled_width"]


@reference("diopiRoiAlignMmcv")
def roi_align_mmcv(*, input: Any, rois: Any, sampling_ratio: int, pool_mode: int,
                   spatial_scale: float, aligned: bool,
                   **given: Any) -> dict[str, Any]:  # fmt: skip
    grids = upright(rois, bins_of(given), sampling_ratio, spatial_scale, aligned)
    if pool_mode == 1:
        return {"output": both(lambda planes: mean(planes, grids, rois), input)}
    value = pooled(input, grids, rois, lambda taken: taken.max(0))
    return {"output": Expected(value, 8, np.abs(value) + 3)}


@reference("diopiRoiAlignBackwardMmcv")
def roi_align_backward_mmcv(*, grad_input: Any, grad_output: Any, rois: Any, argmax_y: Any,
                            argmax_x: Any, sampling_ratio: int, pool_mode: int,
                            spatial_scale: float, aligned: bool,
                            **given: Any) -> dict[str, Any]:  # fmt: skip
    if pool_mode == 1:
        grids = upright(rois, bins_of(given), sampling_ratio, spatial_scale, aligned)
        forward = lambda planes: mean(planes, grids, rois)  # noqa: E731 - passed on only
    else:

        def forward(planes: Any) -> Array:
            out = np.zeros(grad_output.shape)
            for at in np.ndindex(out.shape):
                plane = planes[int(rois[at[0], 0]), at[1]]
                out[at] = surface(plane, argmax_y[at], argmax_x[at])
            return out

    return {"grad_input": backward(forward, grad_input, grad_output)}


@reference("diopiRoiAlignRotatedMmcv")
def roi_align_rotated(*, input: Any, rois: Any, sampling_ratio: int, spatial_scale: float,
                      aligned: bool, clockwise: bool, **given: Any) -> dict[str, Any]:  # fmt: skip
    grids = turned(rois, bins_of(given), sampling_ratio, spatial_scale, aligned, clockwise)
    return {"output": both(lambda planes: mean(planes, grids, rois), input)}


@reference("diopiRoiAlignRotatedBackwardMmcv")
def roi_align_rotated_backward(*, bottom_grad: Any, top_grad: Any, rois: Any, sampling_ratio: int,
                               spatial_scale: float, aligned: bool, clockwise: bool,
                               **given: Any) -> dict[str, Any]:  # fmt: skip
    grids = turned(rois, bins_of(given), sampling_ratio, spatial_scale, aligned, clockwise)
    forward = lambda planes: mean(planes, grids, rois)  # noqa: E731 - passed on only
    return {"bottom_grad": backward(forward, bottom_grad, top_grad)}


def oriented(rois: Any, grids: Any, orientations: int) -> Callable[[Any], Array]:
    """Channels turn by the given angle, clockwise or not; fractions of a step are interpolated."""

    def forward(planes: Any) -> Array:
        plain = mean(planes, grids, rois)
        groups = plain.reshape(len(rois), -1, orientations, *plain.shape[2:])
        out = np.zeros(groups.shape)
        for k, roi in enumerate(rois):
            steps = roi[5] * orientations / (2 * np.pi)
            whole = int(np.floor(steps))
            here, there = (np.roll(groups[k], whole - more, 1) for more in (0, 1))
            out[k] = here * (1 - (steps - whole)) + there * (steps - whole)
        return out.reshape(plain.shape)

    return forward


@reference("diopiRiroiAlignRotatedMmcv")
def riroi_align(*, features: Any, rois: Any, num_samples: int, num_orientations: int,
                spatial_scale: float, clockwise: bool, **given: Any) -> dict[str, Any]:  # fmt: skip
    grids = turned(rois, bins_of(given), num_samples, spatial_scale, False, clockwise)
    return {"output": both(oriented(rois, grids, num_orientations), features)}


@reference("diopiRiroiAlignRotatedBackwardMmcv")
def riroi_align_backward(*, bottom_grad: Any, top_grad: Any, rois: Any, num_samples: int,
                         num_orientations: int, spatial_scale: float, clockwise: bool,
                         **given: Any) -> dict[str, Any]:  # fmt: skip
    grids = turned(rois, bins_of(given), num_samples, spatial_scale, False, clockwise)
    forward = oriented(rois, grids, num_orientations)
    return {"bottom_grad": backward(forward, bottom_grad, top_grad)}


def border_places(box: Any, side: int, pool_size: int) -> list[tuple[float, float]]:
    """Places y, x: top, left, bottom, right, the last two from the far corner back."""
    (x1, y1, x2, y2), steps = box, np.linspace(0, 1, pool_size + 1)
    if side % 2 == 0:
        return [(y1, x1 + t * (x2 - x1)) if side == 0 else (y2, x2 - t * (x2 - x1)) for t in steps]
    return [(y1 + t * (y2 - y1), x1) if side == 1 else (y2 - t * (y2 - y1), x2) for t in steps]


@reference("diopiBorderAlignMmcv")
def border_align(*, input: Any, boxes: Any, pool_size: int) -> dict[str, Any]:
    channels = input.shape[1] // 4
    out = np.zeros((len(input), channels, boxes.shape[1], 4))
    places = np.zeros(out.shape, np.int32)
    for n, c, k, side in np.ndindex(out.shape):
        plane = input[n, side * channels + c]
        taken = [surface(plane, y, x) for y, x in border_places(boxes[n, k], side, pool_size)]
        out[n, c, k, side], places[n, c, k, side] = max(taken), np.argmax(taken)
    return {"output": Expected(out, 8, np.abs(out) + 3), "argmax_idx": places}


@reference("diopiBorderAlignBackwardMmcv")
def border_align_backward(*, grad_input: Any, grad_output: Any, boxes: Any, argmax_idx: Any,
                          pool_size: int) -> dict[str, Any]:  # fmt: skip
    channels = grad_input.shape[1] // 4

    def forward(planes: Any) -> Array:
        out = np.zeros(grad_output.shape)
        for at in np.ndindex(out.shape):
            n, c, k, side = at
            y, x = border_places(boxes[n, k], side, pool_size)[argmax_idx[at]]
            out[at] = surface(planes[n, side * channels + c], y, x)
        return out

    return {"grad_input": backward(forward, grad_input, grad_output)}


def anchored(boxes: Any, scale: float, points: int) -> Callable[[Any], Array]:
    def forward(planes: Any) -> Array:
        out = planes.copy()
        for n, row, column in np.ndindex(boxes.shape[:3]):
            y, x, w, h, angle = boxes[n, row, column]
            corners = [0, w + 1j * h, -w + 1j * h, -w - 1j * h, w - 1j * h]
            for corner in corners[:points]:
                at = scale * (complex(x, y) + corner / 2 * np.exp(1j * angle))
                out[n, :, row, column] += surface(planes[n], at.imag, at.real)
        return out

    return forward


@reference("diopiRotatedFeatureAlignMmcv")
def feature_align(
    *, features: Any, best_bboxes: Any, spatial_scale: float, points: int
) -> dict[str, Any]:
    return {"output": both(anchored(best_bboxes, spatial_scale, points), features)}


@reference("diopiRotatedFeatureAlignBackwardMmcv")
def feature_align_backward(
    *, bottom_grad: Any, top_grad: Any, best_bboxes: Any, spatial_scale: float, points: int
) -> dict[str, Any]:
    forward = anchored(best_bboxes, spatial_scale, points)
    return {"bottom_grad": backward(forward, bottom_grad, top_grad)}
