"""Neighbours in point clouds. Coordinates are multiples of 1/4: distances are exact."""

from __future__ import annotations

import numpy as np
import pytest

import references_neighbors  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, Array, numbers, out_like


def cloud(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-8, 9, shape) / 4


def places(shape: tuple[int, ...], high: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, high, shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_balls(vendor: Vendor, dtype: str, layout: str) -> None:
    check_operator(
        vendor, "diopiBallQueryMmcv", dtype, layout, idx=np.zeros((2, 9, 4)),
        center_xyz=cloud((2, 9, 3), 90), xyz=cloud((2, 30, 3), 91), B=2, N=30, npoint=9,
        sample_num=4, min_radius=0.5, max_radius=2.0,
    )  # fmt: skip
    check_operator(
        vendor, "diopiStackBallQueryMmcv", dtype, layout, idx=np.zeros((7, 4)),
        center_xyz=cloud((7, 3), 92), center_xyz_batch_cnt=np.array([2, 5]), xyz=cloud((20, 3), 93),
        xyz_batch_cnt=np.array([8, 12]), max_radius=1.5, sample_num=4,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_nearest(vendor: Vendor, dtype: str, layout: str) -> None:
    queries, points = cloud((2, 9, 3), 94), cloud((2, 12, 3), 95)
    check_operator(
        vendor, "diopiThreeNnMmcv", dtype, layout, unknown=queries, known=points, b=2, n=9, m=12
    )
    check_operator(
        vendor, "diopiKnnMmcv", "float32", layout, xyz_tensor=points, new_xyz_tensor=queries, b=2,
        n=12, m=9, nsample=5,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_interpolation(vendor: Vendor, dtype: str, layout: str) -> None:
    given = {"idx": places((2, 7, 3), 5, 96), "weight": numbers((2, 7, 3), dtype, 97), "b": 2,
             "c": 3, "m": 5, "n": 7}  # fmt: skip
    points, grad = numbers((2, 3, 5), dtype, 98), numbers((2, 3, 7), dtype, 99)
    check_operator(vendor, "diopiThreeInterpolateMmcv", dtype, layout, points=points, **given)
    check_operator(
        vendor, "diopiThreeInterpolateBackwardMmcv", dtype, layout, grad_points=points,
        grad_out=grad, **given,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("wanted", [1, 6, 14])
def test_furthest_points(vendor: Vendor, wanted: int, layout: str) -> None:
    points, temp = cloud((2, 14, 3), 100), np.full((2, 14), 1e10)
    given = {"temp_tensor": temp, "B": 2, "N": 14, "num_points": wanted}
    name = "diopiFurthestPointSampling"
    check_operator(vendor, f"{name}Mmcv", "float32", layout, points_xyz=points, **given)
    apart = np.abs(cloud((2, 14, 14), 101))
    check_operator(vendor, f"{name}WithDistMmcv", "float32", layout, points_dist=apart, **given)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_chamfer(vendor: Vendor, dtype: str, layout: str) -> None:
    first, second = cloud((2, 6, 2), 102), cloud((2, 8, 2), 103)
    check_operator(vendor, "diopiChamferDistanceMmcv", dtype, layout, xyz1=first, xyz2=second)
    check_operator(
        vendor, "diopiChamferDistanceBackwardMmcv", dtype, layout, grad_xyz1=first,
        grad_xyz2=second, xyz1=first, xyz2=second, idx1=places((2, 6), 8, 104),
        idx2=places((2, 8), 6, 105), grad_dist1=cloud((2, 6), 106), grad_dist2=cloud((2, 8), 107),
    )  # fmt: skip


def test_furthest_of_points_on_a_line_are_its_ends_and_middle(vendor: Vendor) -> None:
    line = np.zeros((1, 9, 3), np.float32)
    line[0, :, 0] = np.arange(9)
    out, temp = out_like(vendor, (1, 3), "int32"), vendor.tensor(np.full((1, 9), 1e10, np.float32))
    vendor.op.FurthestPointSamplingMmcv(temp, out, vendor.tensor(line), 1, 9, 3)
    assert out.numpy().tolist() == [[0, 8, 4]]


def test_bad_arguments_are_told(vendor: Vendor) -> None:
    points, out = out_like(vendor, (1, 2, 3), "float32"), out_like(vendor, (1, 2, 4), "float32")
    weight, wrong = out_like(vendor, (1, 4, 3), "float32"), np.full((1, 4, 3), 3, np.int32)
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.ThreeInterpolateMmcv(out, points, vendor.tensor(wrong), weight, 1, 2, 3, 4)
    none = out_like(vendor, (1, 0, 3), "float32")
    temp, idx = out_like(vendor, (1, 0), "float32"), out_like(vendor, (1, 2), "int32")
    with pytest.raises(OperatorError, match="there are no points to choose from"):
        vendor.op.FurthestPointSamplingMmcv(temp, idx, none, 1, 0, 2)
