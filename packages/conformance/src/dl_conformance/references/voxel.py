"""Voxelization of point clouds, and pooling over the points in boxes.

Sources: Zhou and Tuzel, VoxelNet: End-to-end learning for point cloud based 3D object detection,
2018; Zhou et al., End-to-end multi-view fusion for 3D object detection in LiDAR point clouds
(dynamic voxelization), 2019; Shi et al., From points to parts: 3D object detection from point
cloud with part-aware and part-aggregation network (pooling by voxels of boxes), 2019; Shi et al.,
PointRCNN: 3D object proposal generation and detection from point cloud, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor, isfinite
from typing import Any

import numpy as np

from dl_conformance.boxes import to_box_frame
from dl_conformance.reference import UNSPECIFIED, Array, Expected, reference

Voxel = tuple[int, int, int]


def _voxel(point: Array, size: Array, span: Array) -> Voxel | None:
    """Return z, y, x of the voxel of a point, or None outside of the grid."""
    found = []
    for d in range(3):
        low, high, side = (Fraction(float(x)) for x in (span[d], span[3 + d], size[d]))
        if not isfinite(point[d]):
            return None
        at = floor((Fraction(float(point[d])) - low) / side)
        if not 0 <= at < floor((high - low) / side + Fraction(1, 2)):
            return None
        found.append(at)
    return found[2], found[1], found[0]


@reference("diopiDynamicVoxelizeMmcv")
def dynamic_voxelize(
    *, points: Array, voxel_size: Array, coors_range: Array, **sizes: int
) -> dict[str, Any]:
    found = [_voxel(p, voxel_size, coors_range) or (-1, -1, -1) for p in points]
    return {"coors": np.array(found, np.int32).reshape(len(points), 3)}


@reference("diopiHardVoxelizeMmcv")
def hard_voxelize(
    *,
    voxels: Array,
    coors: Array,
    num_points_per_voxel: Array,
    voxel_num: Array,
    points: Array,
    voxel_size: Array,
    coors_range: Array,
    max_points: int,
    max_voxels: int,
    deterministic: bool,
    **sizes: int,
) -> dict[str, Any]:
    numbers: dict[Voxel, int] = {}
    voxels, coors, counts = voxels.copy(), coors.copy(), num_points_per_voxel.copy()
    for point in points:
        voxel = _voxel(point, voxel_size, coors_range)
        if voxel is None or (voxel not in numbers and len(numbers) == max_voxels):
            continue
        if voxel not in numbers:
            numbers[voxel] = len(numbers)
            coors[numbers[voxel]], counts[numbers[voxel]] = voxel, 0
        at = numbers[voxel]
        if counts[at] < max_points:
            voxels[at, counts[at]] = point
            counts[at] += 1
    number = np.full(voxel_num.shape, len(numbers))
    slots = {"voxels": voxels, "coors": coors, "num_points_per_voxel": counts}
    # If not deterministic, any order of voxels is right.
    return {**(slots if deterministic else dict.fromkeys(slots, UNSPECIFIED)), "voxel_num": number}


@reference("diopiDynamicPointToVoxelMmcv")
def reduce_points(*, feats: Array, coors: Array, reduce_type: int) -> dict[str, Any]:
    members: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(coors):
        if np.all(row >= 0):
            members.setdefault(tuple(map(int, row)), []).append(i)
    found, row_of = sorted(members), np.full(len(coors), -1, np.int32)
    value = np.zeros((len(found), feats.shape[1]), np.longdouble)
    size, counts = value.copy(), np.array([len(members[x]) for x in found], np.int32)
    for m, voxel in enumerate(found):
        row_of[members[voxel]] = m
        group = feats[members[voxel]]
        value[m] = group.max(axis=0) if reduce_type == 2 else group.sum(axis=0)
        size[m] = np.abs(group).sum(axis=0)
        if reduce_type == 1:
            value[m], size[m] = value[m] / len(group), size[m] / len(group)
    length = np.broadcast_to(counts[:, None] + (reduce_type == 1), value.shape)
    combined = Expected(value, length, size)
    if reduce_type == 2:
        combined = Expected(value, op_class="exact")
    where = np.array(found, np.int32).reshape(-1, 3)
    tables = [Expected(x, dtype="int32") for x in (where, row_of, counts)]
    return {"outlist": [combined, *tables]}


@reference("diopiDynamicPointToVoxelBackwardMmcv")
def reduce_points_backward(
    *,
    grad_feats: Array,
    grad_reduced_feats: Array,
    feats: Array,
    reduced_feats: Array,
    coors_idx: Array,
    reduce_count: Array,
    reduce_type: int,
) -> dict[str, Any]:
    out, size = grad_feats.copy(), np.abs(grad_feats)
    taken = np.zeros(reduced_feats.shape, bool)
    for i, m in enumerate(coors_idx):
        if m < 0:
            continue
        share = grad_reduced_feats[m].copy()
        if reduce_type == 1:
            share /= int(reduce_count[m])
        if reduce_type == 2:
            here = (feats[i] == reduced_feats[m]) & ~taken[m]
            taken[m] |= here
            share = np.where(here, share, 0)
        out[i] += share
        size[i] += np.abs(share)
    return {"grad_feats": Expected(out, 3, size)}


def _lists(boxes: Array, points: Array, sides: tuple[int, ...], most: int) -> Iterator[Any]:
    """Yield each nonempty voxel of each box: its index, and its first points."""
    for n, box in enumerate(boxes):
        members: dict[tuple[int, ...], list[int]] = {}
        for i, point in enumerate(points):
            seen = to_box_frame(box, point)
            if seen is None:
                continue
            from_corner = seen + np.array([box[3] / 2, box[4] / 2, 0])
            at = np.floor(from_corner * sides / box[3:6]).astype(int)
            members.setdefault(tuple(np.minimum(at, np.array(sides) - 1)), []).append(i)
        for voxel, found in members.items():
            yield (n, *voxel), found[:most]


@reference("diopiRoiawarePool3dMmcv")
def pool_points(
    *,
    argmax: Array,
    pts_idx_of_voxels: Array,
    pooled_features: Array,
    rois: Array,
    pts: Array,
    pts_feature: Array,
    pool_method: int,
) -> dict[str, Any]:
    lists, places, out = pts_idx_of_voxels.copy(), argmax.copy(), pooled_features.copy()
    size, count = np.abs(out), np.ones(out.shape, np.int64)
    lists[..., 0] = 0
    if pool_method == 0:
        places[...] = -1
    sides, most = out.shape[1:4], lists.shape[4] - 1
    for at, found in _lists(rois, pts, sides, most):
        lists[(*at, 0)] = len(found)
        lists[at][1 : 1 + len(found)] = found
        if not found:
            continue
        features = pts_feature[found]
        if pool_method == 0:
            # argmax selects the first NaN, or else the first maximum.
            first = np.argmax(features, axis=0)
            places[at] = np.array(found)[first]
            out[at] = features[first, np.arange(features.shape[1])]
        else:
            out[at] = features.sum(axis=0) / len(found)
            size[at], count[at] = np.abs(features).sum(axis=0) / len(found), len(found) + 1
    pooled = Expected(out, op_class="exact") if pool_method == 0 else Expected(out, count, size)
    return {"argmax": places, "pts_idx_of_voxels": lists, "pooled_features": pooled}


@reference("diopiRoiawarePool3dBackwardMmcv")
def pool_points_backward(
    *,
    grad_in: Array,
    pts_idx_of_voxels: Array,
    argmax: Array,
    grad_out: Array,
    pool_method: int,
) -> dict[str, Any]:
    out, size, count = grad_in.copy(), np.abs(grad_in), np.full(grad_in.shape, 3, np.int64)

    def add(to: Any, amount: Any) -> None:
        out[to] += amount
        size[to] += np.abs(amount)
        count[to] += 1

    if pool_method == 0:
        for at in np.ndindex(argmax.shape):
            if argmax[at] >= 0:
                add((argmax[at], at[-1]), grad_out[at])
    else:
        for at in np.ndindex(grad_out.shape[:4]):
            number = int(pts_idx_of_voxels[(*at, 0)])
            for i in pts_idx_of_voxels[at][1 : 1 + number]:
                add(int(i), grad_out[at] / number)
    return {"grad_in": Expected(out, count, size)}


@reference("diopiRoipointPool3dMmcv")
def gather_points(
    *,
    pooled_features: Array,
    pooled_empty_flag: Array,
    xyz: Array,
    boxes3d: Array,
    pts_feature: Array,
) -> dict[str, Any]:
    out, empty = pooled_features.copy(), pooled_empty_flag.copy()
    for b, m in np.ndindex(empty.shape):
        found = [i for i, p in enumerate(xyz[b]) if to_box_frame(boxes3d[b, m], p) is not None]
        if not found:
            empty[b, m] = 1
            continue
        taken = [found[: out.shape[2]][k % len(found)] for k in range(out.shape[2])]
        out[b, m] = np.concatenate([xyz[b, taken], pts_feature[b, taken]], axis=1)
    return {"pooled_features": out, "pooled_empty_flag": empty}
