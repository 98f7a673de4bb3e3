"""Tests of points in polygons and boxes, and of the smallest rectangles around points."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "MinAreaPolygonsMmcv",
    "PointsInPolygonsMmcv",
    "PointsInBoxesPartMmcv",
    "PointsInBoxesAllMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_the_smallest_rectangle_around_a_square(vendor: Vendor) -> None:
    square = np.array([[0, 0, 2, 0, 2, 2, 0, 2, 1, 1, 1, 0, 0, 1, 1, 2, 2, 1.0]])
    out = out_like(vendor, (1, 8), "float64")
    vendor.op.MinAreaPolygonsMmcv(out, vendor.tensor(square))
    assert np.array_equal(out.numpy(), [[0, 0, 2, 0, 2, 2, 0, 2]])


def test_bad_shapes_are_reported(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"polygons has the shape \[2, 8\]; it needs \[3, 8\]"):
        vendor.op.MinAreaPolygonsMmcv(
            out_like(vendor, (2, 8), "float32"), out_like(vendor, (3, 18), "float32")
        )
