"""Tests of voxelization, and of pooling over the points of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "DynamicVoxelizeMmcv",
    "HardVoxelizeMmcv",
    "DynamicPointToVoxelMmcv",
    "DynamicPointToVoxelBackwardMmcv",
    "RoiawarePool3dMmcv",
    "RoiawarePool3dBackwardMmcv",
    "RoipointPool3dMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def zeros(vendor: Vendor, shape: tuple[int, ...], dtype: Any = np.float32) -> Tensor:
    return vendor.tensor(np.zeros(shape, dtype))


def grid(vendor: Vendor, side: float = 1, low: float = 0, high: float = 4) -> tuple[Tensor, Tensor]:
    numbers = ([side] * 3, [low] * 3 + [high] * 3)
    return tuple(vendor.tensor(np.array(x, np.float32)) for x in numbers)


def test_many_points_of_many_voxels_keep_their_order(vendor: Vendor) -> None:
    """Enough points to be sorted in pieces and shared by threads."""
    random = np.random.default_rng(5)
    points = random.uniform(0, 4, (20000, 4)).astype(np.float32)
    outputs = [
        zeros(vendor, (64, 100, 4)),
        zeros(vendor, (64, 3), np.int32),
        zeros(vendor, (64,), np.int32),
        zeros(vendor, (1,), np.int64),
    ]
    given = vendor.tensor(points)
    vendor.op.HardVoxelizeMmcv(*outputs, given, *grid(vendor), 100, 64, 3, True)
    voxels, coors, counts, number = (x.numpy() for x in outputs)
    cells = np.floor(points[:, 2::-1]).astype(np.int64) @ [16, 4, 1]
    _, firsts = np.unique(cells, return_index=True)
    assert number.item() == 64
    np.testing.assert_array_equal(coors @ [16, 4, 1], cells[np.sort(firsts)])
    np.testing.assert_array_equal(counts, np.full(64, 100))
    for slot in range(64):
        members = np.flatnonzero(cells == cells[np.sort(firsts)[slot]])[:100]
        np.testing.assert_array_equal(voxels[slot], points[members])


def test_sums_of_voxels_add_up_to_the_sum_of_all_points(vendor: Vendor) -> None:
    random = np.random.default_rng(6)
    features = vendor.tensor(random.random((5000, 3)))
    coors = vendor.tensor(random.integers(0, 9, (5000, 3)).astype(np.int32))
    sums, where, rows, counts = vendor.op.DynamicPointToVoxelMmcv(features, coors, 0)
    np.testing.assert_allclose(sums.numpy().sum(axis=0), features.numpy().sum(axis=0), 1e-12)
    np.testing.assert_array_equal(where.numpy()[rows.numpy()], coors.numpy())
    np.testing.assert_array_equal(np.bincount(rows.numpy()), counts.numpy())


def test_the_largest_coordinates_make_no_difference(vendor: Vendor) -> None:
    last = np.iinfo(np.int32).max
    coors = np.array([[last, last, last], [0, last, 0], [last] * 3, [last, -last - 1, 0]], np.int32)
    features = vendor.tensor(np.array([[1.0], [2], [4], [8]]))
    sums, where, rows, counts = vendor.op.DynamicPointToVoxelMmcv(features, vendor.tensor(coors), 0)
    np.testing.assert_array_equal(sums.numpy(), [[2], [5]])
    np.testing.assert_array_equal(where.numpy(), coors[[1, 0]])
    np.testing.assert_array_equal(rows.numpy(), [1, 0, 1, -1])
    np.testing.assert_array_equal(counts.numpy(), [1, 2])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300])
def test_boxes_of_any_numbers_read_nothing_outside(vendor: Vendor, number: float) -> None:
    boxes = np.tile(np.array([0.5, 0.5, 0, 1, 1, 1, 0.3]), (7, 1))
    boxes[np.arange(7), np.arange(7)] = number
    points, features = np.random.default_rng(7).random((20, 3)), np.ones((20, 2))
    lists = zeros(vendor, (7, 2, 3, 2, 4), np.int32)
    pooled, places = (
        zeros(vendor, (7, 2, 3, 2, 2), np.float64),
        zeros(vendor, (7, 2, 3, 2, 2), np.int32),
    )
    given = [vendor.tensor(x) for x in (boxes, points, features)]
    for method in (0, 1):
        vendor.op.RoiawarePool3dMmcv(places, lists, pooled, *given, method)
        assert set(np.unique(pooled.numpy())) <= {0, 1}
    out, empty = zeros(vendor, (1, 7, 5, 5), np.float64), zeros(vendor, (1, 7), np.int32)
    batch = [vendor.tensor(x[None]) for x in (points, boxes, features)]
    vendor.op.RoipointPool3dMmcv(out, empty, *batch)
    assert np.isfinite(out.numpy()).all()


def errors(vendor: Vendor) -> list[tuple[str, tuple[Any, ...], str]]:
    points, size, span = zeros(vendor, (4, 3)), *grid(vendor)
    coors, narrow = zeros(vendor, (4, 3), np.int32), zeros(vendor, (4, 2), np.int32)
    no_size, _ = grid(vendor, side=0)
    slots = (
        zeros(vendor, (2, 5, 3)),
        zeros(vendor, (2, 3), np.int32),
        zeros(vendor, (2,), np.int32),
        zeros(vendor, (1,), np.int64),
    )
    lists, places = (
        zeros(vendor, (1, 2, 2, 1, 3), np.int32),
        zeros(vendor, (1, 2, 2, 1, 3), np.int32),
    )
    pooled, boxes = zeros(vendor, (1, 2, 2, 1, 3)), zeros(vendor, (1, 7))
    rows, counts = zeros(vendor, (4,), np.int32), zeros(vendor, (2,), np.int32)
    beyond = vendor.tensor(np.array([0, -1, 2, 0], np.int32))
    two = zeros(vendor, (2, 3))
    wrong_lists = vendor.tensor(np.array([1, 4, 0] * 4, np.int32).reshape(1, 2, 2, 1, 3))
    too_many = vendor.tensor(np.array([0, 0, 0, 3, 0, 0] * 2, np.int32).reshape(1, 2, 2, 1, 3))
    no_room = zeros(vendor, (1, 2, 2, 1, 0), np.int32)
    wrong_place = out_like(vendor, (1, 2, 2, 1, 3), "int32")
    batch, flags = (
        (zeros(vendor, (1, 4, 3)), zeros(vendor, (1, 1, 7))),
        zeros(vendor, (1, 1), np.int32),
    )
    backward = "DynamicPointToVoxelBackwardMmcv"
    pool, pool_backward = "RoiawarePool3dMmcv", "RoiawarePool3dBackwardMmcv"
    return [
        ("DynamicVoxelizeMmcv", (coors, points, size, span, 2), "NDim is 2; only 3"),
        ("DynamicVoxelizeMmcv", (narrow, points, size, span, 3), r"it needs \[4, 3\]"),
        ("DynamicVoxelizeMmcv", (coors, points, span, size, 3), r"voxel_size has the shape \[6\]"),
        ("DynamicVoxelizeMmcv", (coors, points, no_size, span, 3), "give at most 2147483647"),
        ("DynamicVoxelizeMmcv", (coors, zeros(vendor, (4, 2)), size, span, 3), "x, y and z are"),
        ("HardVoxelizeMmcv", (*slots, points, size, span, 4, 2, 3, True), r"needs \[2, 4, 3\]"),
        ("HardVoxelizeMmcv", (*slots, points, size, span, -1, 2, 3, True), "max_points is -1"),
        ("HardVoxelizeMmcv", (*slots, points, size, span, 5, 0, 3, True), "max_voxels is 0"),
        ("HardVoxelizeMmcv", (*slots, points, no_size, span, 5, 2, 3, True), "must be positive"),
        ("DynamicPointToVoxelMmcv", (points, narrow, 0), r"coors has the shape \[4, 2\]"),
        (backward, (points, two, points, two, beyond, counts, 0), "index 2 at position 2"),
        (backward, (points, two, points, two, rows, rows, 1), "reduce_count has the shape"),
        (backward, (points, two, points, two, counts, counts, 1), "coors_idx has the shape"),
        (backward, (two, two, points, two, rows, counts, 2), "grad_feats has the shape"),
        (pool, (places, lists, pooled, two, points, points, 0), r"rois has the shape \[2, 3\]"),
        (pool, (places, no_room, pooled, boxes, points, points, 0), "has lists of size 0"),
        (pool, (places, lists, pooled, boxes, points, two, 0), "pts_feature has the shape"),
        (pool_backward, (points, wrong_lists, places, pooled, 1), "number 4 at position 1 of"),
        (pool_backward, (points, too_many, places, pooled, 1), "number 3 at position 3 of"),
        (pool_backward, (points, lists, wrong_place, pooled, 0), "point 77 at position 0"),
        (pool_backward, (two, lists, rows, pooled, 0), "argmax has the shape"),
        (
            "RoipointPool3dMmcv",
            (zeros(vendor, (1, 1, 2, 5)), flags, *batch, zeros(vendor, (1, 4, 3))),
            r"pooled_features has the shape \[1, 1, 2, 5\]; it needs \[1, 1, \*, 6\]",
        ),
        (
            "RoipointPool3dMmcv",
            (zeros(vendor, (1, 1, 2, 6)), narrow, *batch, zeros(vendor, (1, 4, 3))),
            "pooled_empty_flag has the shape",
        ),
    ]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    for name, arguments, message in errors(vendor):
        with pytest.raises(OperatorError, match=message):
            vendor.op[f"diopi{name}"](*arguments)
