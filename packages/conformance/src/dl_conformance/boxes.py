"""Boxes for cases, and tests of points against boxes.

All coordinates are exact in every floating-point dtype of 32 bits and more.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from .inputs import Array, integers, uniform
from .polygons import rectangle

Rows = list[list[float]]


def upright(count: int, key: str) -> Rows:
    """Return axis-aligned boxes (left, top, right, bottom) with integer coordinates."""
    corners = integers(f"corners {key}", 2 * count, 0, 29).reshape(count, 2)
    sizes = integers(f"sizes {key}", 2 * count, 4, 19).reshape(count, 2)
    return [list(map(float, row)) for row in np.concatenate([corners, corners + sizes], axis=1)]


def rotated(count: int, key: str) -> Rows:
    """Return rotated boxes (center x, center y, width, height, angle), exact in float32."""
    ranges = ((0, 20), (0, 20), (4, 15), (4, 15), (-3, 3))
    columns = [uniform(f"{key} {at}", count, low, high) for at, (low, high) in enumerate(ranges)]
    return [[float(np.float32(x)) for x in row] for row in zip(*columns, strict=True)]


def rotated_3d(count: int, key: str) -> Rows:
    """Return rotated 3D boxes (x, y, z, width, length, height, angle)."""
    return [[x, y, 1.0, w, h, 3.0, a] for x, y, w, h, a in rotated(count, key)]


def quadrilaterals(count: int, key: str) -> Rows:
    """Return the four corners of each of ``count`` rotated boxes."""
    corners = [rectangle(*row).astype(np.float32).ravel() for row in rotated(count, key)]
    return [list(map(float, row)) for row in corners]


def point_sets(count: int, key: str) -> Rows:
    """Return ``count`` sets of nine points."""
    values = uniform(f"points {key}", 18 * count, 0, 20).astype(np.float32)
    return [list(map(float, row)) for row in values.reshape(count, 18)]


def grid(width: int, height: int, step: float) -> Rows:
    """Return the points of a regular grid."""
    return [[x * step, y * step] for y, x in product(range(height), range(width))]


def to_box_frame(box: Array, point: Array) -> Array | None:
    """Return a point in the coordinates of a box, or None if the point is outside of the box.

    :param box: x, y, z of the center of the bottom face, width, length, height, angle.
    :returns: offset from the center along the width and the length, and height above the bottom.
    """
    x, y = point[:2] - box[:2]
    cos, sin = np.cos(box[6]), np.sin(box[6])
    along, across, above = cos * x + sin * y, cos * y - sin * x, point[2] - box[2]
    inside = abs(along) < box[3] / 2 and abs(across) < box[4] / 2 and 0 <= above <= box[5]
    return np.array([along, across, above]) if inside else None
