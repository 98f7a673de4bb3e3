"""Areas of convex hulls of points, without computing the hulls.

At each x, the hull extends from the lowest to the highest of all segments between its points. Its
height is linear between the x at which segments end or cross, so the integral is exact.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .reference import Array

Number = np.longdouble


def _segments(points: Array) -> Array:
    return np.array([(*a, *b) for a, b in combinations(points, 2)])


def _span(lines: Array, xs: Array) -> tuple[Array, Array]:
    """Return the lowest and highest point of the hull at each x; low > high outside of the hull."""
    x0, y0, x1, y1 = lines.T
    x = xs[:, None]
    there = (np.minimum(x0, x1) <= x) & (x <= np.maximum(x0, x1)) & (x0 != x1)
    with np.errstate(all="ignore"):
        at = y0 + (x - x0) / (x1 - x0) * (y1 - y0)
    low, high = np.where(there, at, np.inf), np.where(there, at, -np.inf)
    return low.min(1, initial=np.inf), high.max(1, initial=-np.inf)


def _breaks(lines: Array) -> Array:
    found = [lines[:, 0], lines[:, 2]]
    first, second = np.triu_indices(len(lines), 1)
    x0, y0, x1, y1 = lines[first].T
    u0, v0, u1, v1 = lines[second].T
    det = (x1 - x0) * (v1 - v0) - (y1 - y0) * (u1 - u0)
    with np.errstate(all="ignore"):
        t = ((u0 - x0) * (v1 - v0) - (v0 - y0) * (u1 - u0)) / det
        crossing = x0 + t * (x1 - x0)
    found.append(crossing[np.isfinite(crossing)])
    return np.unique(np.concatenate(found))


def shared_area(*figures: Any) -> Any:
    """Return the area of the intersection of all figures."""
    corners = [np.asarray(points, Number).reshape(-1, 2) for points in figures]
    lines = [_segments(points) for points in corners]
    xs = _breaks(np.concatenate(lines))
    low = max(points[:, 0].min() for points in corners)
    high = min(points[:, 0].max() for points in corners)
    xs = np.concatenate([[low], xs[(xs > low) & (xs < high)], [high]])
    if not high > low:
        return Number(0)
    spans = [_span(each, (xs[1:] + xs[:-1]) / 2) for each in lines]
    height = np.min([s[1] for s in spans], axis=0) - np.max([s[0] for s in spans], axis=0)
    return ((xs[1:] - xs[:-1]) * np.maximum(height, 0)).sum()


def rectangle(x: Any, y: Any, w: Any, h: Any, angle: Any) -> Array:
    """Return the corners of a rotated rectangle."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) / 2
    return np.asarray(corners @ turn.T + np.array([x, y]))


def overlap(a: Any, b: Any, mode: int = 0) -> Any:
    """Return intersection over union, or intersection over the first area if ``mode`` is set."""
    shared, first = shared_area(a, b), shared_area(a)
    return shared / (first if mode else first + shared_area(b) - shared)


def terms_of_area(*figures: Any) -> Any:
    """Return a bound on the sum of absolute products in an area: two for each corner of the
    intersection (shoelace formula)."""
    corners = [np.asarray(points, Number).reshape(-1, 2) for points in figures]
    count = sum(len(points) for points in corners)
    return 2 * count * max(np.abs(points).max() for points in corners) ** 2
