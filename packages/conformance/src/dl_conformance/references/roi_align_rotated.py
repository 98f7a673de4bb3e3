"""Regions of feature maps, sampled on rotated grids, with rotated orientation channels.

Sources: Ma et al., Arbitrary-oriented scene text detection via rotation proposals, 2018; Han et
al., ReDet: A rotation-equivariant detector for aerial object detection, 2021; Yang et al., R3Det:
Refined single-stage detector with feature refinement for rotating object, 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.regions import Grid, pooled, spread
from dl_conformance.sampling import Sampled, Weights, bordered


def _grids(
    rois: Array, bins: tuple[int, int], ratio: int, scale: float, aligned: bool, clockwise: bool
) -> list[Grid]:
    of = (bins, ratio, np.float32(scale), aligned, clockwise)
    return [Grid.rotated(roi, *of) for roi in rois]


@reference("diopiRoiAlignRotatedMmcv")
def roi_align_rotated(
    *,
    input: Array,
    rois: Array,
    aligned_height: int,
    aligned_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    aligned: bool,
    clockwise: bool,
) -> dict[str, Any]:
    bins = (aligned_height, aligned_width)
    grids = _grids(rois, bins, sampling_ratio, spatial_scale, aligned, clockwise)
    return {"output": pooled(input, grids).expected()}


@reference("diopiRoiAlignRotatedBackwardMmcv")
def roi_align_rotated_backward(
    *,
    bottom_grad: Array,
    top_grad: Array,
    rois: Array,
    aligned_height: int,
    aligned_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    aligned: bool,
    clockwise: bool,
) -> dict[str, Any]:
    bins = (aligned_height, aligned_width)
    grids = _grids(rois, bins, sampling_ratio, spatial_scale, aligned, clockwise)
    return {"bottom_grad": spread(bottom_grad, top_grad, grids).expected()}


def _turns(rois: Array, orientations: int) -> Iterator[tuple[int, Array]]:
    """Return the mixing matrix [to, from] of orientation channels for each region."""
    for k, roi in enumerate(rois):
        steps = roi[5] * orientations / (2 * np.pi)
        whole = int(np.floor(steps))
        mixed = np.zeros((orientations, orientations), np.longdouble)
        for to in range(orientations):
            mixed[to, (to - whole) % orientations] += 1 - (steps - whole)
            mixed[to, (to - whole + 1) % orientations] += steps - whole
        yield k, mixed


def _mixed(values: Array, rois: Array, orientations: int, back: bool) -> Array:
    groups = values.reshape(len(rois), -1, orientations, *values.shape[2:])
    out = np.zeros_like(groups)
    for k, mixed in _turns(rois, orientations):
        out[k] = np.einsum("to,go...->gt...", mixed.T if back else mixed, groups[k])
    return out.reshape(values.shape)


def _angles(rois: Array, orientations: int) -> Array:
    """Return the effect of an error of the angle on the share of an orientation."""
    sizes = 1 + np.abs(rois[:, 5]) * orientations
    return np.asarray(sizes[:, None, None, None])


@reference("diopiRiroiAlignRotatedMmcv")
def riroi_align(
    *,
    features: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    num_samples: int,
    num_orientations: int,
    spatial_scale: float,
    clockwise: bool,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    grids = _grids(rois, bins, num_samples, spatial_scale, False, clockwise)
    plain = pooled(features, grids)
    value = _mixed(plain.value, rois, num_orientations, False)
    # Sum over all orientations of a group, with shares of at most 1.
    groups = plain.size.reshape(len(rois), -1, num_orientations, *bins)
    every = np.broadcast_to(groups.sum(axis=2, keepdims=True), groups.shape).reshape(value.shape)
    size = every * _angles(rois, num_orientations)
    return {"output": Expected(value, plain.count + 4, size)}


@reference("diopiRiroiAlignRotatedBackwardMmcv")
def riroi_align_backward(
    *,
    bottom_grad: Array,
    top_grad: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    num_samples: int,
    num_orientations: int,
    spatial_scale: float,
    clockwise: bool,
) -> dict[str, Any]:
    bins = (pooled_height, pooled_width)
    grids = _grids(rois, bins, num_samples, spatial_scale, False, clockwise)
    turned = _mixed(top_grad, rois, num_orientations, True)
    found = spread(bottom_grad, turned, grids)
    groups = np.abs(top_grad).reshape(len(rois), -1, num_orientations, *bins)
    every = np.broadcast_to(groups.sum(axis=2, keepdims=True), groups.shape)
    sizes = every.reshape(top_grad.shape) * _angles(rois, num_orientations)
    magnitude = spread(np.abs(bottom_grad), sizes, grids).size
    count = 2 * found.count + 4
    return {"bottom_grad": Expected(found.value, count, magnitude)}


def _anchors(
    boxes: Array, scale: float, points: int, shape: tuple[int, int]
) -> Iterator[tuple[tuple[int, int, int], Weights]]:
    """Yield the samples at the center and the corners of the box of each cell."""
    for at in np.ndindex(boxes.shape[:3]):
        y, x, w, h, angle = boxes[at]
        cos, sin = np.cos(angle), np.sin(angle)
        corners = ((0, 0), (1, 1), (-1, 1), (-1, -1), (1, -1))
        terms = np.float32(scale) * (np.abs(x) + np.abs(y) + np.abs(w) + np.abs(h))
        for a, b in corners[:points]:
            across, down = a * w / 2, b * h / 2
            px = np.float32(scale) * (x + across * cos - down * sin)
            py = np.float32(scale) * (y + across * sin + down * cos)
            turn = terms * (1 + np.abs(angle))
            yield at, bordered(py, px, shape, turn, turn)


@reference("diopiRotatedFeatureAlignMmcv")
def feature_align(
    *, features: Array, best_bboxes: Array, spatial_scale: float, points: int
) -> dict[str, Any]:
    out = Sampled(features.shape, features)
    for (n, row, column), taken in _anchors(best_bboxes, spatial_scale, points, features.shape[2:]):
        out.take((n, slice(None), row, column), features[n], taken)
    return {"output": out.expected()}


@reference("diopiRotatedFeatureAlignBackwardMmcv")
def feature_align_backward(
    *, bottom_grad: Array, top_grad: Array, best_bboxes: Array, spatial_scale: float, points: int
) -> dict[str, Any]:
    out = Sampled(bottom_grad.shape, bottom_grad)
    # The features themselves are one of the terms.
    out.value += top_grad
    out.size += np.abs(top_grad)
    shape = bottom_grad.shape[2:]
    for (n, row, column), taken in _anchors(best_bboxes, spatial_scale, points, shape):
        out.give(n, top_grad[n, :, row, column], taken)
    return {"bottom_grad": out.expected()}
