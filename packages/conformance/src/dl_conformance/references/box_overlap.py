"""Overlaps of axis-aligned boxes, rotated boxes, quadrilaterals and point sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_conformance.polygons import Number, overlap, rectangle, shared_area, terms_of_area
from dl_conformance.reference import Array, Expected, reference

CORNER = 12
"""Roundings of a corner of a box, or of the intersection of two sides."""
NO_AREA = 1e-14
Pair = tuple[Any, Any]


def upright(a: Array, b: Array, offset: float = 0.0, mode: int = 0) -> Any:
    """Return the overlap of boxes (left, top, right, bottom)."""
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + offset, 0)
    shared = np.prod(sides)
    first, second = (np.prod(box[2:] - box[:2] + offset) for box in (a, b))
    base = first if mode else first + second - shared
    return shared / base if base > 0 else Number(0)


def from_above(box: Array) -> Array:
    """Return the bird's-eye-view corners of a 3D box."""
    return rectangle(box[0], box[1], box[3], box[4], box[6])


def _quotient(a: Array, b: Array, mode: int = 0) -> Pair:
    """Return the overlap of two figures, and the terms of the areas of the quotient."""
    value, shared = overlap(a, b, mode), shared_area(a, b)
    base = shared / value if value else shared_area(a)
    return value, terms_of_area(a, b) / base * (1 + value)


def rotated(a: Array, b: Array, mode: int = 0) -> Pair:
    """Return the overlap of rotated boxes (x, y, width, height, angle)."""
    if min(a[2] * a[3], b[2] * b[3]) < NO_AREA:
        return Number(0), Number(0)
    return _quotient(rectangle(*a[:5]), rectangle(*b[:5]), mode)


def _pairs(first: Array, second: Array, aligned: bool, of: Callable[..., Pair]) -> Expected:
    if aligned:
        found = [of(a, b) for a, b in zip(first, second, strict=True)]
        shape: tuple[int, ...] = (len(first),)
    else:
        found = [of(a, b) for a in first for b in second]
        shape = (len(first), len(second))
    value, size = (np.array([x[k] for x in found], Number).reshape(shape) for k in range(2))
    return Expected(value, CORNER, np.maximum(size, np.abs(value)), op_class="reduction")


@reference("diopiBboxOverlapsMmcv")
def bbox_overlaps(
    *, bboxes1: Array, bboxes2: Array, mode: int, offset: int, aligned: bool
) -> dict[str, Any]:
    """Return the overlap of integer boxes: areas are exact, and only the quotient is rounded."""

    def of(a: Array, b: Array) -> Pair:
        value = upright(a, b, offset, mode)
        return value, value

    return {"ious": Expected(_pairs(bboxes1, bboxes2, aligned, of).value)}


@reference("diopiBoxIouRotatedMmcv")
def box_iou_rotated(*, bboxes1: Array, bboxes2: Array, mode: int, aligned: bool) -> dict[str, Any]:
    return {"ious": _pairs(bboxes1, bboxes2, aligned, lambda a, b: rotated(a, b, mode))}


@reference("diopiBoxIouQuadriMmcv")
def box_iou_quadri(*, bboxes1: Array, bboxes2: Array, mode: int, aligned: bool) -> dict[str, Any]:
    return {"ious": _pairs(bboxes1, bboxes2, aligned, lambda a, b: _quotient(a, b, mode))}


@reference("diopiConvexIouMmcv")
def convex_iou(*, pointsets: Array, polygons: Array) -> dict[str, Any]:
    return {"ious": _pairs(pointsets, polygons, False, _quotient)}


@reference("diopiIou3dBoxesOverlapBevMmcv")
def overlap_from_above(*, boxes_a: Array, boxes_b: Array) -> dict[str, Any]:
    def of(a: Array, b: Array) -> Pair:
        figures = from_above(a), from_above(b)
        return shared_area(*figures), terms_of_area(*figures)

    return {"ans_overlap": _pairs(boxes_a, boxes_b, False, of)}


def generalized(points: Array, polygon: Array) -> Any:
    """Source: Rezatofighi et al., Generalized intersection over union, 2019."""
    shared = shared_area(points, polygon)
    joined = shared_area(points) + shared_area(polygon) - shared
    enclosing = shared_area(np.concatenate([points, polygon]))
    return shared / joined - (enclosing - joined) / enclosing


@reference("diopiConvexGiouMmcv")
def convex_giou(*, pointsets: Array, polygons: Array) -> dict[str, Any]:
    """Return gradients by central differences in longdouble, with errors of about 1e-12."""
    step = Number(2) ** -20
    value = np.zeros((len(pointsets), 19), Number)
    size = np.zeros_like(value)
    for row, (nine, four) in enumerate(zip(pointsets, polygons, strict=True)):
        corners = four.reshape(4, 2)
        for at in range(18):
            ends = []
            for sign in (1, -1):
                moved = nine.copy()
                moved[at] += sign * step
                ends.append(generalized(moved.reshape(9, 2), corners))
            value[row, at] = (ends[0] - ends[1]) / (2 * step)
        points = nine.reshape(9, 2)
        value[row, 18] = generalized(points, corners)
        terms = terms_of_area(points, corners)
        # Magnitude of quotients by the smallest area; gradients have one power of length less.
        base = min(shared_area(points), shared_area(corners))
        size[row, 18] = 4 * terms / base
        size[row, :18] = 8 * terms / base**1.5 * (1 + terms / base)
    return {"output": Expected(value, CORNER, size, op_class="reduction")}


@reference("diopiDiffIouRotatedSortVerticesMmcv")
def sort_vertices(*, vertices: Array, mask: Array, num_valid: Array) -> dict[str, Any]:
    """Return the points sorted by angle from the positive x axis, with the first one repeated."""
    out = np.zeros((*mask.shape[:2], 9), np.int32)
    for at in np.ndindex(mask.shape[:2]):
        spare = next((i for i in range(8, 24) if not mask[at][i]), 0)
        out[at] = spare
        angles = np.arctan2(vertices[at][:, 1], vertices[at][:, 0]) % (2 * np.pi)
        kept = np.flatnonzero(mask[at])
        order = list(kept[np.argsort(angles[kept], kind="stable")])
        if num_valid[at] >= 3:
            order = order[: min(int(num_valid[at]), 8)]
            out[at][: len(order) + 1] = [*order, order[0]]
    return {"out": out}
