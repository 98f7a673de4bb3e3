"""Points in polygons and boxes, and the smallest rectangles around points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.boxes import to_box_frame
from dl_conformance.reference import Array, Expected, reference

HULL = 1e-12
"""Tolerance for points outside of a side of the hull, due to rounding."""
CORNER = 20
"""Roundings of a corner: direction, two products and their sum, and the inverse rotation."""


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


@reference("diopiMinAreaPolygonsMmcv")
def min_area_polygons(*, pointsets: Array) -> dict[str, Any]:
    """Return the smallest rectangle over all directions of segments; one has a side on the hull."""
    result = []
    for points in pointsets.reshape(-1, 9, 2):
        found = []
        for i, j in np.ndindex(9, 9):
            u = points[j] - points[i]
            if i != j and np.all(_cross(u, points - points[i]) >= -HULL):
                u = u / np.hypot(*u)
                along, across = points @ u, points @ np.array([-u[1], u[0]])
                box = (along.min(), along.max(), across.min(), across.max())
                found.append(((box[1] - box[0]) * (box[3] - box[2]), u, box))
        _, u, (a0, a1, b0, b1) = min(found, key=lambda each: each[0])
        v = np.array([-u[1], u[0]])
        result.append([a * u + b * v for a, b in ((a0, b0), (a1, b0), (a1, b1), (a0, b1))])
    value = np.array(result).reshape(-1, 8)
    size = np.abs(pointsets).reshape(len(value), -1).max(axis=1)[:, None] * np.full_like(value, 4)
    return {"polygons": Expected(value, CORNER, size, op_class="reduction")}


@reference("diopiPointsInPolygonsMmcv")
def points_in_polygons(*, points: Array, polygons: Array) -> dict[str, Any]:
    """Return True if a point is on the same side of all edges of a convex polygon."""
    out = np.zeros((len(points), len(polygons)))
    for i, k in np.ndindex(out.shape):
        corners = polygons[k].reshape(4, 2)
        sides = _cross(np.roll(corners, -1, axis=0) - corners, points[i] - corners)
        out[i, k] = np.all(sides > 0) or np.all(sides < 0)
    return {"output": out}


@reference("diopiPointsInBoxesPartMmcv")
def points_in_boxes_part(*, box_idx_of_points: Array, boxes: Array, pts: Array) -> dict[str, Any]:
    """Return the first box that contains each point."""
    out = box_idx_of_points.copy()
    for b, m in np.ndindex(out.shape):
        holding = [t for t, box in enumerate(boxes[b]) if to_box_frame(box, pts[b, m]) is not None]
        out[b, m] = holding[0] if holding else out[b, m]
    return {"box_idx_of_points": out}


@reference("diopiPointsInBoxesAllMmcv")
def points_in_boxes_all(*, box_idx_of_points: Array, boxes: Array, pts: Array) -> dict[str, Any]:
    out = box_idx_of_points.copy()
    for b, m, t in np.ndindex(out.shape):
        if to_box_frame(boxes[b, t], pts[b, m]) is not None:
            out[b, m, t] = 1
    return {"box_idx_of_points": out}
