"""Tests of regions of feature maps sampled on a grid, along borders and at anchors."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

PLANES = (2, 3, 5, 4)


OPERATORS = (
    "BorderAlignMmcv",
    "BorderAlignBackwardMmcv",
    "RoiAlignMmcv",
    "RoiAlignBackwardMmcv",
    "RoiAlignRotatedMmcv",
    "RoiAlignRotatedBackwardMmcv",
    "RiroiAlignRotatedMmcv",
    "RiroiAlignRotatedBackwardMmcv",
    "RotatedFeatureAlignMmcv",
    "RotatedFeatureAlignBackwardMmcv",
    "RoiAlign",
    "RoiAlignBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_a_plane_that_slopes_is_pooled_to_the_middle_of_the_bin(vendor: Vendor) -> None:
    slope = np.arange(8.0)[:, None] * 2 + np.arange(8.0) * 3
    out = out_like(vendor, (1, 1, 1, 2), "float64")
    roi = vendor.tensor(np.array([[0, 1.5, 2.5, 5.5, 6.5]]))
    vendor.op.RoiAlign(out, vendor.tensor(slope[None, None]), roi, 1.0, 1, 2, 0, True)
    assert np.allclose(out.numpy(), [[[[4 * 2 + 2 * 3, 4 * 2 + 4 * 3]]]], 1e-14)


@pytest.mark.parametrize("clockwise", [False, True])
def test_directions_turn_by_the_angle_as_given(vendor: Vendor, clockwise: bool) -> None:
    """A quarter turn is one of four orientations: each channel reads from the one before it."""
    planes = np.broadcast_to(np.array([1.0, 2, 3, 4])[None, :, None, None], (1, 4, 3, 3)).copy()
    roi = vendor.tensor(np.array([[0, 1, 1, 1, 1, np.pi / 2]]))
    out = out_like(vendor, (1, 4, 1, 1), "float64")
    vendor.op.RiroiAlignRotatedMmcv(out, vendor.tensor(planes), roi, 1, 1, 1, 4, 1.0, clockwise)
    np.testing.assert_array_equal(out.numpy().ravel(), [4, 1, 2, 3])


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    out, planes = out_like(vendor, (1, 3, 2, 2), "float32"), out_like(vendor, PLANES, "float32")
    wrong = vendor.tensor(np.array([[2, 0, 0, 1, 1]], np.float32))
    with pytest.raises(OperatorError, match="batch number 2 of region 0 is out of range"):
        vendor.op.RoiAlign(out, planes, wrong, 1.0, 2, 2, 0, True)
    with pytest.raises(OperatorError, match=r"rois has the shape \[1, 4\]; it needs \[\*, 5\]"):
        vendor.op.RoiAlign(out, planes, out_like(vendor, (1, 4), "float32"), 1.0, 2, 2, 0, True)
    with pytest.raises(OperatorError, match="at most 4096"):
        vendor.op.RoiAlign(out, planes, wrong, 1.0, 2, 2, 1 << 40, True)
    with pytest.raises(OperatorError, match="the pooled height is 0; it must be at least 1"):
        vendor.op.RoiAlign(out, planes, wrong, 1.0, 0, 2, 0, True)
