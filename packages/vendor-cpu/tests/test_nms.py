"""Non-maximum suppression of upright and turned boxes."""

from __future__ import annotations

import numpy as np
import pytest

import references_boxes  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import LAYOUTS, Array, out_like


def boxes(count: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    corner, size = random.integers(0, 30, (count, 2)), random.integers(4, 20, (count, 2))
    return np.concatenate([corner, corner + size], 1).astype(np.float64)


def turned(count: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    place = random.uniform(0, 20, (count, 2))
    size, angle = random.uniform(4, 15, (count, 2)), random.uniform(-3, 3, (count, 1))
    return np.concatenate([place, size, angle], 1)


def scores(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).permutation(count) / 64


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 70])
def test_nms(vendor: Vendor, count: int, dtype: str, layout: str) -> None:
    given, by = boxes(count, 1), scores(count, 2)
    check_operator(
        vendor, "diopiNms", dtype, layout, boxes=given, confidence=by, iou_threshold=0.31
    )
    check_operator(
        vendor, "diopiNmsMmcv", dtype, layout, dets=given, scores=by, iou_threshold=0.31, offset=1
    )


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nms_rotated(vendor: Vendor, dtype: str, layout: str, labels: bool) -> None:
    given, by = turned(12, 3), scores(12, 4)
    if labels:
        given = np.concatenate([given, np.arange(12)[:, None] % 2], 1)
    order = np.argsort(-by)
    check_operator(
        vendor, "diopiNmsRotatedMmcv", dtype, layout, dets=given, scores=by, order=order,
        dets_sorted=given[order], labels=None, iou_threshold=0.25, multi_label=labels,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["diopiIou3dNms3dMmcv", "diopiIou3dNms3dNormalMmcv"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nms_from_above(vendor: Vendor, name: str, layout: str) -> None:
    flat = turned(12, 5)
    given = np.insert(flat, [2, 4], 1.0, 1)
    check_operator(vendor, name, "float32", layout, boxes=given, nms_overlap_thresh=0.25)


def test_boxes_that_are_far_apart_or_equal(vendor: Vendor) -> None:
    far = np.arange(70)[:, None] * 10.0 + [0, 0, 5, 5]
    kept = vendor.op.Nms(
        vendor.tensor(far), vendor.tensor(np.linspace(0, 1, 70)), iou_threshold=0.1
    )
    assert kept.numpy().tolist() == list(range(69, -1, -1))
    same = vendor.tensor(np.tile(far[:1], (70, 1)))
    assert vendor.op.Nms(same, vendor.tensor(np.zeros(70)), 0.9).numpy().tolist() == [0]


def test_bad_arguments_are_told(vendor: Vendor) -> None:
    given = vendor.tensor(boxes(4, 6))
    with pytest.raises(OperatorError, match=r"scores has the shape \[3\]; it needs \[4\]"):
        vendor.op.Nms(given, vendor.tensor(np.zeros(3)), 0.5)
    with pytest.raises(OperatorError, match=r"boxes has the shape \[4, 5\]; it needs \[\*, 4\]"):
        vendor.op.Nms(vendor.tensor(np.zeros((4, 5))), vendor.tensor(np.zeros(4)), 0.5)
    with pytest.raises(OperatorError):
        vendor.op.Nms(out_like(vendor, (4, 4), "float16"), out_like(vendor, (4,), "float16"), 0.5)
    turned_boxes = vendor.tensor(turned(2, 7))
    with pytest.raises(OperatorError, match="index 2 at position 1 is out of range"):
        vendor.op.NmsRotatedMmcv(
            turned_boxes, vendor.tensor(np.zeros(2)), vendor.tensor(np.array([0, 2])),
            turned_boxes, None, 0.5, False,
        )  # fmt: skip
