"""Areas of convex figures given by points: the figure is the hull, which is never computed.

At each x the figure reaches from the lowest to the highest of all segments between its points; the
length is linear between the places where segments end or cross, so its integral is exact.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np


def segments(points: Any) -> Any:
    return np.array([(*a, *b) for a, b in combinations(points, 2)])


def span(lines: Any, x: float) -> tuple[float, float]:
    """The lowest and highest point of the figure at x."""
    x0, y0, x1, y1 = lines.T
    there = (np.minimum(x0, x1) <= x) & (x <= np.maximum(x0, x1)) & (x0 != x1)
    if not np.any(there):
        return 0.0, -1.0
    at = y0[there] + (x - x0[there]) / (x1[there] - x0[there]) * (y1[there] - y0[there])
    return float(at.min()), float(at.max())


def breaks(lines: Any) -> Any:
    found = [lines[:, 0], lines[:, 2]]
    x0, y0, x1, y1 = (lines[:, None, k] for k in range(4))
    u0, v0, u1, v1 = (lines[None, :, k] for k in range(4))
    det = (x1 - x0) * (v1 - v0) - (y1 - y0) * (u1 - u0)
    with np.errstate(all="ignore"):
        t = ((u0 - x0) * (v1 - v0) - (v0 - y0) * (u1 - u0)) / det
        crossing = x0 + t * (x1 - x0)
    found.append(crossing[np.isfinite(crossing)])
    return np.unique(np.concatenate(found))


def shared_area(*figures: Any) -> float:
    """The area that all figures cover."""
    figures = tuple(np.asarray(points, np.float64).reshape(-1, 2) for points in figures)
    lines = [segments(points) for points in figures]
    xs = breaks(np.concatenate(lines))
    low = max(points[:, 0].min() for points in figures)
    high = min(points[:, 0].max() for points in figures)
    xs = np.concatenate([[low], xs[(xs > low) & (xs < high)], [high]])
    total = 0.0
    for left, right in pairwise(xs):
        if right > left:
            spans = [span(each, (left + right) / 2) for each in lines]
            total += (right - left) * max(0, min(s[1] for s in spans) - max(s[0] for s in spans))
    return float(total)


def rectangle(x: float, y: float, w: float, h: float, angle: float) -> Any:
    """Its corners."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]], np.float64) / 2
    return corners @ turn.T + [x, y]


def overlap(a: Any, b: Any, mode: int = 0) -> float:
    """The shared area over that of both together, or over the first."""
    shared, first = shared_area(a, b), shared_area(a)
    return shared / (first if mode else first + shared_area(b) - shared)
