"""Neighbors in point clouds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _squares(a: Array, b: Array) -> Array:
    """Return the squared distances of all pairs."""
    return np.asarray(((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(axis=-1))


def _first(before: Array, inside: Array) -> Array:
    """Return the first indices with True, padded with the first one."""
    found = np.flatnonzero(inside)[: len(before)]
    if not len(found):
        return before
    return np.array([*found, *[found[0]] * (len(before) - len(found))])


@reference("diopiBallQueryMmcv")
def ball_query(
    *, idx: Array, center_xyz: Array, xyz: Array, min_radius: float, max_radius: float, **sizes: int
) -> dict[str, Any]:
    apart = _squares(center_xyz, xyz)
    inside = (apart == 0) | ((apart >= min_radius**2) & (apart < max_radius**2))
    out = idx.copy()
    for at in np.ndindex(idx.shape[:2]):
        out[at] = _first(idx[at], inside[at])
    return {"idx": out}


@reference("diopiStackBallQueryMmcv")
def stack_ball_query(
    *,
    idx: Array,
    center_xyz: Array,
    center_xyz_batch_cnt: Array,
    xyz: Array,
    xyz_batch_cnt: Array,
    max_radius: float,
    sample_num: int,
) -> dict[str, Any]:
    out, ends = idx.copy(), np.cumsum(xyz_batch_cnt)
    batches = np.repeat(np.arange(len(ends)), center_xyz_batch_cnt)
    for at, batch in enumerate(batches):
        points = xyz[ends[batch] - xyz_batch_cnt[batch] : ends[batch]]
        inside = _squares(center_xyz[at : at + 1], points)[0] < max_radius**2
        out[at] = _first(out[at], inside)
        if not inside.any():
            out[at, 0] = -1
    return {"idx": out}


def _nearest(queries: Array, points: Array, count: int) -> tuple[Array, Array]:
    apart = _squares(queries, points)
    order = np.argsort(apart, axis=-1, kind="stable")[..., :count]
    return np.take_along_axis(apart, order, axis=-1), order


@reference("diopiKnnMmcv")
def knn(*, xyz_tensor: Array, new_xyz_tensor: Array, nsample: int, **sizes: int) -> dict[str, Any]:
    apart, order = _nearest(new_xyz_tensor, xyz_tensor, nsample)
    return {"idx_tensor": order, "dist2_tensor": apart}


@reference("diopiThreeNnMmcv")
def three_nn(*, unknown: Array, known: Array, **sizes: int) -> dict[str, Any]:
    apart, order = _nearest(unknown, known, 3)
    return {"dist2": apart, "idx": order}


@reference("diopiThreeInterpolateMmcv")
def three_interpolate(*, points: Array, idx: Array, weight: Array, **sizes: int) -> dict[str, Any]:
    taken = np.stack([p[:, i] for p, i in zip(points, idx, strict=True)])
    terms = taken * weight[:, None]
    return {"out": Expected(terms.sum(axis=-1), 3, np.abs(terms).sum(axis=-1))}


@reference("diopiThreeInterpolateBackwardMmcv")
def three_interpolate_backward(
    *, grad_points: Array, grad_out: Array, idx: Array, weight: Array, **sizes: int
) -> dict[str, Any]:
    value, size = grad_points.copy(), np.abs(grad_points)
    count = np.ones(value.shape, np.int64)
    for at in np.ndindex(idx.shape):
        place = (at[0], slice(None), idx[at])
        term = weight[at] * grad_out[at[0], :, at[1]]
        value[place] += term
        size[place] += np.abs(term)
        count[place] += 1
    return {"grad_points": Expected(value, count, size)}


def _furthest(before: Array, apart: Array, count: int) -> dict[str, Any]:
    """Sample the farthest point from all previous ones, starting at point 0."""
    seen, picked = [], []
    for start, distances in zip(before, apart, strict=True):
        chosen, least = [0], start.copy()
        for _ in range(count - 1):
            least = np.minimum(least, distances[chosen[-1]])
            chosen.append(int(np.argmax(least)))
        seen.append(least)
        picked.append(chosen)
    return {"temp_tensor": np.stack(seen), "idx_tensor": np.array(picked)}


@reference("diopiFurthestPointSamplingMmcv")
def furthest_points(
    *, temp_tensor: Array, points_xyz: Array, num_points: int, **sizes: int
) -> dict[str, Any]:
    return _furthest(temp_tensor, _squares(points_xyz, points_xyz), num_points)


@reference("diopiFurthestPointSamplingWithDistMmcv")
def furthest_points_by_distance(
    *, temp_tensor: Array, points_dist: Array, num_points: int, **sizes: int
) -> dict[str, Any]:
    return _furthest(temp_tensor, points_dist, num_points)


@reference("diopiChamferDistanceMmcv")
def chamfer_distance(*, xyz1: Array, xyz2: Array) -> dict[str, Any]:
    apart = _squares(xyz1, xyz2)
    dims = xyz1.shape[-1]
    least = {f"dist{at}": apart.min(axis=3 - at) for at in (1, 2)}
    # 3 * dims roundings: each coordinate is subtracted, squared and added.
    found: dict[str, Any] = {k: Expected(v, 3 * dims, np.abs(v)) for k, v in least.items()}
    return {**found, "idx1": apart.argmin(axis=2), "idx2": apart.argmin(axis=1)}


@reference("diopiChamferDistanceBackwardMmcv")
def chamfer_distance_backward(
    *,
    grad_xyz1: Array,
    grad_xyz2: Array,
    xyz1: Array,
    xyz2: Array,
    idx1: Array,
    idx2: Array,
    grad_dist1: Array,
    grad_dist2: Array,
) -> dict[str, Any]:
    found: list[list[Any]] = [
        [x.copy(), np.ones(x.shape, np.int64), np.abs(x)] for x in (grad_xyz1, grad_xyz2)
    ]
    pairs = [(b, i, int(idx1[b, i]), grad_dist1[b, i]) for b, i in np.ndindex(idx1.shape)]
    pairs += [(b, int(idx2[b, j]), j, grad_dist2[b, j]) for b, j in np.ndindex(idx2.shape)]
    for b, i, j, grad in pairs:
        moved = 2 * grad * (xyz1[b, i] - xyz2[b, j])
        for (value, count, size), at, sign in zip(found, ((b, i), (b, j)), (1, -1), strict=True):
            value[at] += sign * moved
            count[at] += 3
            size[at] += np.abs(moved)
    return {"grad_xyz1": Expected(*found[0]), "grad_xyz2": Expected(*found[1])}
