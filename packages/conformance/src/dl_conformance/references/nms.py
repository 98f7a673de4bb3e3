"""Non-maximum suppression of axis-aligned, rotated and 3D boxes (in bird's-eye view)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_conformance.polygons import overlap
from dl_conformance.reference import Array, reference
from dl_conformance.references.box_overlap import from_above, rotated, upright


def _suppressed(count: int, overlap: Callable[[int, int], Any], threshold: float) -> list[int]:
    """Return the boxes that do not overlap any previously selected box."""
    kept: list[int] = []
    for i in range(count):
        if all(not overlap(k, i) > threshold for k in kept):
            kept.append(i)
    return kept


def _suppress_by_score(boxes: Array, scores: Array, threshold: float, offset: float) -> Array:
    order = sorted(range(len(scores)), key=lambda i: -scores[i])

    def together(a: int, b: int) -> Any:
        return upright(boxes[order[a]], boxes[order[b]], offset)

    kept = _suppressed(len(order), together, threshold)
    return np.array([order[k] for k in kept], np.int64)


@reference("diopiNms")
def nms(*, boxes: Array, confidence: Array, iou_threshold: float) -> dict[str, Any]:
    return {"out": _suppress_by_score(boxes, confidence, iou_threshold, 0)}


@reference("diopiNmsMmcv")
def nms_with_offset(
    *, dets: Array, scores: Array, iou_threshold: float, offset: int
) -> dict[str, Any]:
    return {"out": _suppress_by_score(dets, scores, iou_threshold, offset)}


@reference("diopiNmsRotatedMmcv")
def nms_rotated(
    *,
    dets: Array,
    scores: Array,
    order: Array,
    dets_sorted: Array,
    labels: Any,
    iou_threshold: float,
    multi_label: bool,
) -> dict[str, Any]:
    def together(i: int, j: int) -> Any:
        a, b = dets_sorted[i], dets_sorted[j]
        return rotated(a, b)[0] if np.array_equal(a[5:], b[5:]) else 0.0

    return {"out": order[_suppressed(len(order), together, iou_threshold)]}


def _suppress_from_above(boxes: Array, threshold: float) -> dict[str, Any]:
    figures = [from_above(box) for box in boxes]
    kept = _suppressed(len(boxes), lambda a, b: overlap(figures[a], figures[b]), threshold)
    keep = np.zeros(len(boxes), np.int64)
    keep[: len(kept)] = kept
    return {"keep": keep, "keep_num": np.array([len(kept)])}


@reference("diopiIou3dNms3dMmcv")
def nms_3d(*, boxes: Array, nms_overlap_thresh: float) -> dict[str, Any]:
    return _suppress_from_above(boxes, nms_overlap_thresh)


@reference("diopiIou3dNms3dNormalMmcv")
def nms_3d_upright(*, boxes: Array, nms_overlap_thresh: float) -> dict[str, Any]:
    return _suppress_from_above(boxes * [1, 1, 1, 1, 1, 1, 0], nms_overlap_thresh)
