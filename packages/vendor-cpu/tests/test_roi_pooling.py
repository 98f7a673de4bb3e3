"""Tests of pooling over regions of feature maps: maxima, exact means, and means in bins with
offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from peers import aligned_regions
from suite import check_cases
from support import out_like

PLANES = (2, 3, 5, 4)
OPERATORS = (
    "RoiPoolMmcv",
    "RoiPoolBackwardMmcv",
    "PrroiPoolMmcv",
    "PrroiPoolbackwardMmcv",
    "PrroiPoolCoorBackwardMmcv",
    "DeformRoiPoolMmcv",
    "DeformRoiPoolBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def slope() -> np.ndarray:
    """A plane that rises by 2 per row and by 3 per column."""
    return (np.arange(8.0)[:, None] * 2 + np.arange(8.0) * 3)[None, None]


def test_the_mean_of_a_slope_is_that_in_the_middle_of_the_bin(vendor: Vendor) -> None:
    out = out_like(vendor, (1, 1, 2, 1), "float64")
    roi = vendor.tensor(np.array([[0, 0.3, 1.2, 5.1, 6.4]]))
    vendor.op.PrroiPoolMmcv(out, vendor.tensor(slope()), roi, 2, 1, 1.0)
    want = [2 * y + 3 * 2.7 for y in (1.2 + 1.3, 1.2 + 3.9)]
    np.testing.assert_allclose(out.numpy().ravel(), want, 1e-14)


def test_corners_of_a_region_on_a_slope_have_its_slopes(vendor: Vendor) -> None:
    """Moving a corner by 1 moves the center by a half."""
    roi = vendor.tensor(np.array([[0, 0.5, 1, 5, 6]]))
    planes, mean = vendor.tensor(slope()), out_like(vendor, (1, 1, 1, 1), "float64")
    vendor.op.PrroiPoolMmcv(mean, planes, roi, 1, 1, 1.0)
    grads, one = vendor.tensor(np.zeros((1, 5))), vendor.tensor(np.ones((1, 1, 1, 1)))
    vendor.op.PrroiPoolCoorBackwardMmcv(grads, mean, one, planes, roi, 1, 1, 1.0)
    np.testing.assert_allclose(grads.numpy(), [[0, 1.5, 1, 1.5, 1]], 1e-13)


def test_bins_without_moves_are_aligned_regions(vendor: Vendor) -> None:
    random = np.random.default_rng(3)
    planes = vendor.tensor(random.random(PLANES))
    roi = vendor.tensor(np.array([[1, 0.3, 1.2, 3.1, 4.4]]))
    moved = out_like(vendor, (1, 3, 2, 2), "float64")
    vendor.op.DeformRoiPoolMmcv(moved, planes, roi, None, 2, 2, 2, 1.0, 0.1)
    np.testing.assert_array_equal(moved.numpy(), aligned_regions(vendor, planes, roi, (2, 2), 2))


@pytest.mark.parametrize("numbers", [np.nan, np.inf, -np.inf, 1e300, -1e300])
def test_regions_of_any_numbers_read_nothing_outside(vendor: Vendor, numbers: float) -> None:
    planes, out = out_like(vendor, PLANES, "float64"), out_like(vendor, (4, 3, 2, 2), "float64")
    rois = np.tile(np.array([1.0, 1, 1, 3, 3]), (4, 1))
    rois[np.arange(4), 1 + np.arange(4)] = numbers
    given, places = vendor.tensor(rois), out_like(vendor, (4, 3, 2, 2), "int32")
    vendor.op.RoiPoolMmcv(out, places, planes, given, 2, 2, 1.0)
    assert places.numpy().min() >= -1
    assert places.numpy().max() < 20
    vendor.op.PrroiPoolMmcv(out, planes, given, 2, 2, 1.0)
    vendor.op.PrroiPoolbackwardMmcv(planes, out, given, 2, 2, 1.0)
    vendor.op.PrroiPoolCoorBackwardMmcv(
        out_like(vendor, (4, 5), "float64"), out, out, planes, given, 2, 2, 1.0
    )
    moves = vendor.tensor(np.full((4, 2, 2, 2), numbers))
    vendor.op.DeformRoiPoolMmcv(out, planes, given, moves, 2, 2, 2, 1.0, 0.1)


def test_a_bin_with_nan_has_it(vendor: Vendor) -> None:
    planes = np.zeros((1, 1, 4, 4))
    planes[0, 0, 1, 2] = np.nan
    out, places = out_like(vendor, (1, 1, 1, 1), "float64"), out_like(vendor, (1, 1, 1, 1), "int32")
    roi = vendor.tensor(np.array([[0, 0, 0, 3, 3.0]]))
    vendor.op.RoiPoolMmcv(out, places, vendor.tensor(planes), roi, 1, 1, 1.0)
    assert np.isnan(out.numpy()).all()
    assert places.numpy().item() == 6


def errors(vendor: Vendor) -> list[tuple[str, tuple[Any, ...], str]]:
    out, planes = out_like(vendor, (1, 3, 2, 2), "float32"), out_like(vendor, PLANES, "float32")
    roi = vendor.tensor(np.array([[1, 0, 0, 1, 1]], np.float32))
    wrong = vendor.tensor(np.array([[2, 0, 0, 1, 1]], np.float32))
    places = out_like(vendor, (1, 3, 2, 2), "int32")
    small, beyond = (out_like(vendor, (1, 3, 2, n), "int32") for n in (1, 2))
    moves = out_like(vendor, (1, 2, 2, 3), "float32")
    bins = (2, 2, 1.0)
    return [
        ("RoiPoolMmcv", (out, places, planes, wrong, *bins), "batch number 2 of region 0"),
        ("RoiPoolMmcv", (out, small, planes, roi, *bins), "argmax does not have the shape"),
        ("RoiPoolMmcv", (out, places, planes, roi, 0, 2, 1.0), "the pooled height is 0"),
        ("RoiPoolMmcv", (out, places, planes, roi, 2, -1, 1.0), "the pooled width is -1"),
        ("RoiPoolMmcv", (out, places, planes, out, *bins), r"it needs \[\*, 5\]"),
        ("RoiPoolBackwardMmcv", (planes, out, roi, beyond, *bins), "index 77 at position 0"),
        ("RoiPoolBackwardMmcv", (planes, out, roi, small, *bins), "argmax does not have the shape"),
        ("PrroiPoolMmcv", (out, planes, wrong, *bins), "batch number 2 of region 0"),
        ("PrroiPoolMmcv", (planes, planes, roi, *bins), r"it needs \[1, 3, 2, 2\]"),
        ("PrroiPoolbackwardMmcv", (planes, out, wrong, *bins), "batch number 2 of region 0"),
        ("PrroiPoolCoorBackwardMmcv", (out, out, out, planes, roi, *bins), "grad_rois does not"),
        ("PrroiPoolCoorBackwardMmcv", (roi, planes, out, planes, roi, *bins), "output does not"),
        (
            "DeformRoiPoolMmcv",
            (out, planes, roi, moves, 2, 2, 2, 1.0, 0.1),
            r"offset has the shape \[1, 2, 2, 3\]; it needs \[1, 2, 2, 2\]",
        ),
        (
            "DeformRoiPoolMmcv",
            (out, planes, roi, None, 2, 2, 1 << 40, 1.0, 0.1),
            "at most 4096",
        ),
        (
            "DeformRoiPoolBackwardMmcv",
            (planes, moves, out, planes, roi, None, 2, 2, 2, 1.0, 0.1),
            "grad_offset has the shape",
        ),
        (
            "DeformRoiPoolBackwardMmcv",
            (planes, None, out, out, roi, None, 2, 2, 2, 1.0, 0.1),
            "grad_input does not have the shape",
        ),
    ]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    for name, arguments, message in errors(vendor):
        with pytest.raises(OperatorError, match=message):
            vendor.op[f"diopi{name}"](*arguments)
