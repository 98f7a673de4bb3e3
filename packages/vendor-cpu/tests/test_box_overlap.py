"""Tests of overlaps of axis-aligned, rotated and polygonal boxes."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from dl_conformance import boxes
from dl_conformance.references.box_overlap import generalized
from suite import check_cases
from support import LAYOUTS, out_like

WIDE = ("float32", "float64")


OPERATORS = (
    "BboxOverlapsMmcv",
    "BoxIouRotatedMmcv",
    "BoxIouQuadriMmcv",
    "ConvexIouMmcv",
    "ConvexGiouMmcv",
    "DiffIouRotatedSortVerticesMmcv",
    "Iou3dBoxesOverlapBevMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", WIDE)
def test_generalized_overlap_and_its_slope(vendor: Vendor, dtype: str, layout: str) -> None:
    points = np.array(boxes.point_sets(2, "slope"))
    polygons = np.array(boxes.quadrilaterals(2, "slope"))
    out = out_like(vendor, (2, 19), dtype, layout)
    vendor.op.ConvexGiouMmcv(
        out, vendor.tensor(points.astype(dtype)), vendor.tensor(polygons.astype(dtype))
    )
    step = 1e-5
    for row, nine, polygon in zip(out.numpy(), points, polygons, strict=True):
        nine, corners = nine.reshape(9, 2), polygon.reshape(4, 2)
        np.testing.assert_allclose(row[18], generalized(nine, corners), 1e-6)
        for i in range(18):
            move = np.zeros(18)
            move[i] = step
            move = move.reshape(9, 2)
            slope = generalized(nine + move, corners) - generalized(nine - move, corners)
            np.testing.assert_allclose(row[i], slope / (2 * step), rtol=1e-4, atol=1e-8)


def test_a_square_turned_by_an_eighth(vendor: Vendor) -> None:
    """Two squares share a regular octagon: 2 (sqrt 2 - 1) of the area."""
    box = np.array([[3.0, 4, 1, 1, 0]])
    turned_box = np.array([[3.0, 4, 1, 1, np.pi / 4]])
    out = out_like(vendor, (1, 1), "float64")
    vendor.op.BoxIouRotatedMmcv(out, vendor.tensor(box), vendor.tensor(turned_box), 0, False)
    np.testing.assert_allclose(out.numpy(), np.sqrt(0.5), rtol=1e-14)


def test_boxes_without_area(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 2), "float32")
    none = vendor.tensor(np.ones((2, 4), np.float32))
    vendor.op.BboxOverlapsMmcv(out, none, none, 0, 0, False)
    assert np.array_equal(out.numpy(), np.zeros((2, 2)))


@pytest.mark.parametrize("mode", [0, 1])
def test_turned_boxes_with_one_negative_side_overlap_with_nothing(
    vendor: Vendor, mode: int
) -> None:
    boxes = vendor.tensor(np.array([[3.0, 4, 2, 1, 0.5], [3.0, 4, -2, 1, 0.5]]))
    out = out_like(vendor, (2, 2), "float64")
    vendor.op.BoxIouRotatedMmcv(out, boxes, boxes, mode, False)
    np.testing.assert_allclose(out.numpy(), [[1, 0], [0, 0]], rtol=1e-14)


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    two, three = out_like(vendor, (2, 4), "float32"), out_like(vendor, (3, 4), "float32")
    out = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="aligned boxes come in pairs; 2 and 3 were given"):
        vendor.op.BboxOverlapsMmcv(out, two, three, 0, 0, True)
    with pytest.raises(OperatorError, match="the output has 6 elements; it needs 4"):
        vendor.op.BboxOverlapsMmcv(out, two, two, 0, 0, False)
