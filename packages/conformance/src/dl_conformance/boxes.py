"""Boxes for cases, whose numbers every floating dtype of 32 bits and more stores exactly, and what
points are in them."""

from __future__ import annotations

from itertools import product

import numpy as np

from .inputs import Array, integers, uniform
from .polygons import rectangle

Rows = list[list[float]]


def upright(count: int, key: str) -> Rows:
    """Left, top, right, bottom: integers."""
    corners = integers(f"corners {key}", 2 * count, 0, 29).reshape(count, 2)
    sizes = integers(f"sizes {key}", 2 * count, 4, 19).reshape(count, 2)
    return [list(map(float, row)) for row in np.concatenate([corners, corners + sizes], axis=1)]


def turned(count: int, key: str) -> Rows:
    """Middle, width and height, angle: as float32 stores them."""
    ranges = ((0, 20), (0, 20), (4, 15), (4, 15), (-3, 3))
    columns = [uniform(f"{key} {at}", count, low, high) for at, (low, high) in enumerate(ranges)]
    return [[float(np.float32(x)) for x in row] for row in zip(*columns, strict=True)]


def standing(count: int, key: str) -> Rows:
    """Turned ones in space: x, y, z, width, length, height, angle."""
    return [[x, y, 1.0, w, h, 3.0, a] for x, y, w, h, a in turned(count, key)]


def quadrilaterals(count: int, key: str) -> Rows:
    """Four corners each."""
    corners = [rectangle(*row).astype(np.float32).ravel() for row in turned(count, key)]
    return [list(map(float, row)) for row in corners]


def point_sets(count: int, key: str) -> Rows:
    """Nine points each."""
    values = uniform(f"points {key}", 18 * count, 0, 20).astype(np.float32)
    return [list(map(float, row)) for row in values.reshape(count, 18)]


def grid(width: int, height: int, step: float) -> Rows:
    """Points that lie apart."""
    return [[x * step, y * step] for y, x in product(range(height), range(width))]


def seen_from(box: Array, point: Array) -> Array | None:
    """A point as seen from a box x, y, z of the bottom's middle, width, length, height, angle:
    along width and length from the middle, and above the bottom; None outside of it."""
    x, y = point[:2] - box[:2]
    cos, sin = np.cos(box[6]), np.sin(box[6])
    along, across, above = cos * x + sin * y, cos * y - sin * x, point[2] - box[2]
    inside = abs(along) < box[3] / 2 and abs(across) < box[4] / 2 and 0 <= above <= box[5]
    return np.array([along, across, above]) if inside else None
