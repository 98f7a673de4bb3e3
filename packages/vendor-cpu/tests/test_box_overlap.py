"""Overlaps of boxes that stand upright, are turned, or have four or more corners."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from polygons import rectangle
from references import check_operator
from references_boxes import generalized
from support import FLOATS, LAYOUTS, Array, out_like
from test_nms import boxes, turned

WIDE = ("float32", "float64")


def quadrilaterals(count: int, seed: int) -> Array:
    return np.array([rectangle(*box) for box in turned(count, seed)]).reshape(count, 8)


def point_sets(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(0, 20, (count, 18))


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_bbox_overlaps(vendor: Vendor, dtype: str, layout: str, offset: int, mode: int) -> None:
    a, b = boxes(7, 10), boxes(5, 11)
    check_operator(
        vendor, "diopiBboxOverlapsMmcv", dtype, layout, bboxes1=a, bboxes2=b, mode=mode,
        offset=offset, aligned=False,
    )  # fmt: skip
    check_operator(
        vendor, "diopiBboxOverlapsMmcv", dtype, layout, bboxes1=a[:5], bboxes2=b, mode=mode,
        offset=offset, aligned=True,
    )  # fmt: skip


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", WIDE)
def test_turned_and_quadrilateral(
    vendor: Vendor, dtype: str, layout: str, mode: int, aligned: bool
) -> None:
    for name, make in (("Rotated", turned), ("Quadri", quadrilaterals)):
        check_operator(
            vendor, f"diopiBoxIou{name}Mmcv", dtype, layout, bboxes1=make(3, 12),
            bboxes2=make(3 if aligned else 2, 13), mode=mode, aligned=aligned,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", WIDE)
def test_convex_iou(vendor: Vendor, dtype: str, layout: str) -> None:
    check_operator(
        vendor, "diopiConvexIouMmcv", dtype, layout, pointsets=point_sets(2, 14),
        polygons=quadrilaterals(2, 15),
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_overlap_from_above(vendor: Vendor, layout: str) -> None:
    a, b = (np.insert(turned(5, seed), [2, 4], 1.0, 1) for seed in (16, 17))
    check_operator(vendor, "diopiIou3dBoxesOverlapBevMmcv", "float32", layout, boxes_a=a, boxes_b=b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", WIDE)
def test_generalized_overlap_and_its_slope(vendor: Vendor, dtype: str, layout: str) -> None:
    points, polygons = point_sets(2, 18), quadrilaterals(2, 19)
    if dtype == "float32":
        points, polygons = (a.astype(np.float32).astype(np.float64) for a in (points, polygons))
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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_vertices_are_sorted_by_angle(vendor: Vendor, layout: str) -> None:
    random = np.random.default_rng(20)
    mask = random.random((2, 3, 24)) < 0.25
    check_operator(
        vendor, "diopiDiffIouRotatedSortVerticesMmcv", "float32", layout,
        vertices=random.uniform(-1, 1, (2, 3, 24, 2)), mask=mask, num_valid=mask.sum(-1),
    )  # fmt: skip


def test_a_square_turned_by_an_eighth(vendor: Vendor) -> None:
    """Both squares share a regular octagon: 2 (sqrt 2 - 1) of each."""
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


def test_bad_arguments_are_told(vendor: Vendor) -> None:
    two, three = out_like(vendor, (2, 4), "float32"), out_like(vendor, (3, 4), "float32")
    out = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="aligned boxes come in pairs; 2 and 3 were given"):
        vendor.op.BboxOverlapsMmcv(out, two, three, 0, 0, True)
    with pytest.raises(OperatorError, match="the output has 6 elements; it needs 4"):
        vendor.op.BboxOverlapsMmcv(out, two, two, 0, 0, False)
