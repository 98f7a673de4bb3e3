"""Points in polygons and boxes, and the smallest rectangles around points."""

from __future__ import annotations

import numpy as np
import pytest

import references_boxes  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from polygons import shared_area
from references import check_operator
from support import LAYOUTS, Array, out_like
from test_box_overlap import point_sets, quadrilaterals
from test_nms import turned


def standing(batches: int, count: int, seed: int) -> Array:
    boxes = np.insert(turned(batches * count, seed), [2, 4], [[1.0, 3.0]], 1)
    return boxes.reshape(batches, count, 7)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_min_area_polygons(vendor: Vendor, dtype: str, layout: str) -> None:
    given = point_sets(6, 21)
    got = check_operator(vendor, "diopiMinAreaPolygonsMmcv", dtype, layout, pointsets=given)
    for corners, points in zip(got["polygons"].numpy(), given, strict=True):
        assert np.isclose(shared_area(corners, points), shared_area(points), 1e-4)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_points_in_polygons(vendor: Vendor, layout: str) -> None:
    points = np.random.default_rng(22).uniform(0, 20, (40, 2))
    check_operator(
        vendor, "diopiPointsInPolygonsMmcv", "float32", layout, points=points,
        polygons=quadrilaterals(6, 23),
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_points_in_boxes(vendor: Vendor, layout: str) -> None:
    boxes = standing(2, 5, 24)
    pts = np.random.default_rng(25).uniform(0, 20, (2, 30, 3)) * [1, 1, 0.3]
    for name, shape, before in (("BoxesPart", (2, 30), -1), ("BoxesAll", (2, 30, 5), 0)):
        check_operator(
            vendor, f"diopiPointsIn{name}Mmcv", "float32", layout, boxes=boxes, pts=pts,
            box_idx_of_points=np.full(shape, before),
        )  # fmt: skip


def test_the_smallest_rectangle_around_a_square(vendor: Vendor) -> None:
    square = np.array([[0, 0, 2, 0, 2, 2, 0, 2, 1, 1, 1, 0, 0, 1, 1, 2, 2, 1.0]])
    out = out_like(vendor, (1, 8), "float64")
    vendor.op.MinAreaPolygonsMmcv(out, vendor.tensor(square))
    assert np.array_equal(out.numpy(), [[0, 0, 2, 0, 2, 2, 0, 2]])


def test_bad_shapes_are_told(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"polygons has the shape \[2, 8\]; it needs \[3, 8\]"):
        vendor.op.MinAreaPolygonsMmcv(
            out_like(vendor, (2, 8), "float32"), out_like(vendor, (3, 18), "float32")
        )
