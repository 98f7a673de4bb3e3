"""References of the overlaps of boxes, of non-maximum suppression and of points in regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from polygons import overlap, rectangle, shared_area
from referenced import Expected
from references import reference


def upright(a: Any, b: Any, offset: float = 0.0, mode: int = 0) -> float:
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + offset, 0)
    shared = float(np.prod(sides))
    first, second = (float(np.prod(box[2:] - box[:2] + offset)) for box in (a, b))
    base = first if mode else first + second - shared
    return shared / base if base > 0 else 0.0


def turned(a: Any, b: Any, mode: int = 0) -> float:
    if min(a[2] * a[3], b[2] * b[3]) < 1e-14:
        return 0.0
    return overlap(rectangle(*a[:5]), rectangle(*b[:5]), mode)


def from_above(box: Any) -> Any:
    return rectangle(box[0], box[1], box[3], box[4], box[6])


def cross(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def pairs(first: Any, second: Any, aligned: bool, function: Any) -> Any:
    if aligned:
        return np.array([function(a, b) for a, b in zip(first, second, strict=True)])
    return np.array([[function(a, b) for b in second] for a in first]).reshape(
        len(first), len(second)
    )


def suppressed(count: int, function: Any, threshold: float) -> list[int]:
    """The boxes that none kept before them overlaps."""
    kept: list[int] = []
    for i in range(count):
        if all(not function(k, i) > threshold for k in kept):
            kept.append(i)
    return kept


def kept_by_score(boxes: Any, scores: Any, threshold: float, offset: float) -> Any:
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    kept = suppressed(
        len(order), lambda a, b: upright(boxes[order[a]], boxes[order[b]], offset), threshold
    )
    return np.array([order[k] for k in kept], np.int64)


@reference("diopiNms")
def nms(*, boxes: Any, confidence: Any, iou_threshold: float) -> dict[str, Any]:
    return {"out": kept_by_score(boxes, confidence, iou_threshold, 0)}


@reference("diopiNmsMmcv")
def nms_with_offset(*, dets: Any, scores: Any, iou_threshold: float, offset: int) -> dict[str, Any]:
    return {"out": kept_by_score(dets, scores, iou_threshold, offset)}


@reference("diopiNmsRotatedMmcv")
def nms_rotated(*, order: Any, dets_sorted: Any, iou_threshold: float, **_: Any) -> dict[str, Any]:
    def together(i: int, j: int) -> float:
        a, b = dets_sorted[i], dets_sorted[j]
        return turned(a, b) if np.array_equal(a[5:], b[5:]) else 0.0

    return {"out": order[suppressed(len(order), together, iou_threshold)]}


def kept_from_above(boxes: Any, threshold: float) -> dict[str, Any]:
    kept = suppressed(
        len(boxes), lambda a, b: overlap(from_above(boxes[a]), from_above(boxes[b])), threshold
    )
    keep = np.zeros(len(boxes), np.int64)
    keep[: len(kept)] = kept
    return {"keep": keep, "keep_num": np.array([len(kept)])}


@reference("diopiIou3dNms3dMmcv")
def nms_3d(*, boxes: Any, nms_overlap_thresh: float) -> dict[str, Any]:
    return kept_from_above(boxes, nms_overlap_thresh)


@reference("diopiIou3dNms3dNormalMmcv")
def nms_3d_upright(*, boxes: Any, nms_overlap_thresh: float) -> dict[str, Any]:
    return kept_from_above(boxes * [1, 1, 1, 1, 1, 1, 0], nms_overlap_thresh)


@reference("diopiBboxOverlapsMmcv")
def bbox_overlaps(
    *, bboxes1: Any, bboxes2: Any, mode: int, offset: int, aligned: bool
) -> dict[str, Any]:
    function = lambda a, b: upright(a, b, offset, mode)  # noqa: E731 - it is passed on only
    return {"ious": pairs(bboxes1, bboxes2, aligned, function)}


def judged(value: Any) -> Expected:
    """An overlap is the quotient of areas, each a sum of a few products."""
    return Expected(value, magnitude=np.abs(value) + 4)


@reference("diopiBoxIouRotatedMmcv")
def box_iou_rotated(*, bboxes1: Any, bboxes2: Any, mode: int, aligned: bool) -> dict[str, Any]:
    return {"ious": judged(pairs(bboxes1, bboxes2, aligned, lambda a, b: turned(a, b, mode)))}


@reference("diopiBoxIouQuadriMmcv")
def box_iou_quadri(*, bboxes1: Any, bboxes2: Any, mode: int, aligned: bool) -> dict[str, Any]:
    return {"ious": judged(pairs(bboxes1, bboxes2, aligned, lambda a, b: overlap(a, b, mode)))}


@reference("diopiConvexIouMmcv")
def convex_iou(*, pointsets: Any, polygons: Any) -> dict[str, Any]:
    return {"ious": judged(pairs(pointsets, polygons, False, overlap))}


@reference("diopiIou3dBoxesOverlapBevMmcv")
def overlap_from_above(*, boxes_a: Any, boxes_b: Any) -> dict[str, Any]:
    function = lambda a, b: shared_area(from_above(a), from_above(b))  # noqa: E731 - as above
    return {"ans_overlap": judged(pairs(boxes_a, boxes_b, False, function))}


def generalized(points: Any, polygon: Any) -> float:
    shared = shared_area(points, polygon)
    joined = shared_area(points) + shared_area(polygon) - shared
    enclosing = shared_area(np.concatenate([points, polygon]))
    return shared / joined - (enclosing - joined) / enclosing


@reference("diopiDiffIouRotatedSortVerticesMmcv")
def sort_vertices(*, vertices: Any, mask: Any, num_valid: Any) -> dict[str, Any]:
    out = np.zeros((*mask.shape[:2], 9), np.int32)
    for at in np.ndindex(mask.shape[:2]):
        spare = next((i for i in range(8, 24) if not mask[at][i]), 0)
        out[at] = spare
        angles = np.arctan2(vertices[at][:, 1], vertices[at][:, 0]) % (2 * np.pi)
        order = sorted(np.flatnonzero(mask[at]), key=lambda i, angles=angles: angles[i])
        if num_valid[at] >= 3:
            order = order[: min(num_valid[at], 8)]
            out[at][: len(order) + 1] = [*order, order[0]]
    return {"out": out}


@reference("diopiMinAreaPolygonsMmcv")
def min_area_polygons(*, pointsets: Any) -> dict[str, Any]:
    """The least over directions of segments between points: one of them lies along the hull."""
    result = []
    for points in pointsets.reshape(-1, 9, 2):
        areas = {}
        for i in range(9):
            for j in range(9):
                u = points[j] - points[i]
                if i != j and np.all(cross(u, points - points[i]) >= -1e-12):
                    u = u / np.hypot(*u)
                    along, across = points @ u, points @ [-u[1], u[0]]
                    box = (along.min(), along.max(), across.min(), across.max())
                    areas[(i, j)] = ((box[1] - box[0]) * (box[3] - box[2]), u, box)
        _, u, (a0, a1, b0, b1) = min(areas.values(), key=lambda found: found[0])
        v = np.array([-u[1], u[0]])
        result.append([a * u + b * v for a, b in ((a0, b0), (a1, b0), (a1, b1), (a0, b1))])
    value = np.array(result).reshape(-1, 8)
    return {"polygons": Expected(value, magnitude=np.abs(value) + 8)}


@reference("diopiPointsInPolygonsMmcv")
def points_in_polygons(*, points: Any, polygons: Any) -> dict[str, Any]:
    """Of convex polygons: on the same side of all sides."""

    def inside(p: Any, polygon: Any) -> float:
        corners = polygon.reshape(4, 2)
        sides = cross(np.roll(corners, -1, 0) - corners, p - corners)
        return float(np.all(sides > 0) or np.all(sides < 0))

    return {"output": pairs(points, polygons, False, inside)}


def in_box(box: Any, point: Any) -> bool:
    turn = np.exp(-1j * box[6]) * complex(*(point[:2] - box[:2]))
    level = box[2] <= point[2] <= box[2] + box[5]
    return bool(abs(turn.real) < box[3] / 2 and abs(turn.imag) < box[4] / 2 and level)


@reference("diopiPointsInBoxesPartMmcv")
def points_in_boxes_part(*, box_idx_of_points: Any, boxes: Any, pts: Any) -> dict[str, Any]:
    out = box_idx_of_points.copy()
    for b, m in np.ndindex(out.shape):
        holding = [t for t, box in enumerate(boxes[b]) if in_box(box, pts[b, m])]
        out[b, m] = holding[0] if holding else out[b, m]
    return {"box_idx_of_points": out}


@reference("diopiPointsInBoxesAllMmcv")
def points_in_boxes_all(*, box_idx_of_points: Any, boxes: Any, pts: Any) -> dict[str, Any]:
    out = box_idx_of_points.copy()
    for b, m, t in np.ndindex(out.shape):
        out[b, m, t] = 1 if in_box(boxes[b, t], pts[b, m]) else out[b, m, t]
    return {"box_idx_of_points": out}
