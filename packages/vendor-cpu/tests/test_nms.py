"""Tests of non-maximum suppression of axis-aligned and rotated boxes."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import Array, out_like


def boxes(count: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    corner, size = random.integers(0, 30, (count, 2)), random.integers(4, 20, (count, 2))
    return np.concatenate([corner, corner + size], 1).astype(np.float64)


def random_rotated_boxes(count: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    place = random.uniform(0, 20, (count, 2))
    size, angle = random.uniform(4, 15, (count, 2)), random.uniform(-3, 3, (count, 1))
    return np.concatenate([place, size, angle], 1)


OPERATORS = (
    "NmsMmcv",
    "NmsRotatedMmcv",
    "Iou3dNms3dMmcv",
    "Iou3dNms3dNormalMmcv",
    "Nms",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_boxes_that_are_far_apart_or_equal(vendor: Vendor) -> None:
    far = np.arange(70)[:, None] * 10.0 + [0, 0, 5, 5]
    kept = vendor.op.Nms(
        vendor.tensor(far), vendor.tensor(np.linspace(0, 1, 70)), iou_threshold=0.1
    )
    assert kept.numpy().tolist() == list(range(69, -1, -1))
    same = vendor.tensor(np.tile(far[:1], (70, 1)))
    assert vendor.op.Nms(same, vendor.tensor(np.zeros(70)), 0.9).numpy().tolist() == [0]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    given = vendor.tensor(boxes(4, 6))
    with pytest.raises(OperatorError, match=r"scores has the shape \[3\]; it needs \[4\]"):
        vendor.op.Nms(given, vendor.tensor(np.zeros(3)), 0.5)
    with pytest.raises(OperatorError, match=r"boxes has the shape \[4, 5\]; it needs \[\*, 4\]"):
        vendor.op.Nms(vendor.tensor(np.zeros((4, 5))), vendor.tensor(np.zeros(4)), 0.5)
    with pytest.raises(OperatorError):
        vendor.op.Nms(out_like(vendor, (4, 4), "float16"), out_like(vendor, (4,), "float16"), 0.5)
    turned_boxes = vendor.tensor(random_rotated_boxes(2, 7))
    with pytest.raises(OperatorError, match="index 2 at position 1 is out of range"):
        vendor.op.NmsRotatedMmcv(
            turned_boxes, vendor.tensor(np.zeros(2)), vendor.tensor(np.array([0, 2])),
            turned_boxes, None, 0.5, False,
        )  # fmt: skip
