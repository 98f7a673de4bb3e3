"""Tests of neighbors in point clouds. Coordinates are multiples of 1/4, so distances are exact."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "BallQueryMmcv",
    "StackBallQueryMmcv",
    "KnnMmcv",
    "ThreeNnMmcv",
    "ThreeInterpolateMmcv",
    "ThreeInterpolateBackwardMmcv",
    "FurthestPointSamplingMmcv",
    "FurthestPointSamplingWithDistMmcv",
    "ChamferDistanceMmcv",
    "ChamferDistanceBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_furthest_of_points_on_a_line_are_its_ends_and_middle(vendor: Vendor) -> None:
    line = np.zeros((1, 9, 3), np.float32)
    line[0, :, 0] = np.arange(9)
    out, temp = out_like(vendor, (1, 3), "int32"), vendor.tensor(np.full((1, 9), 1e10, np.float32))
    vendor.op.FurthestPointSamplingMmcv(temp, out, vendor.tensor(line), 1, 9, 3)
    assert out.numpy().tolist() == [[0, 8, 4]]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    points, out = out_like(vendor, (1, 2, 3), "float32"), out_like(vendor, (1, 2, 4), "float32")
    weight, wrong = out_like(vendor, (1, 4, 3), "float32"), np.full((1, 4, 3), 3, np.int32)
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.ThreeInterpolateMmcv(out, points, vendor.tensor(wrong), weight, 1, 2, 3, 4)
    none = out_like(vendor, (1, 0, 3), "float32")
    temp, idx = out_like(vendor, (1, 0), "float32"), out_like(vendor, (1, 2), "int32")
    with pytest.raises(OperatorError, match="there are no points to choose from"):
        vendor.op.FurthestPointSamplingMmcv(temp, idx, none, 1, 0, 2)
