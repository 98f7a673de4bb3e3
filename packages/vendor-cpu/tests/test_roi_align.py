"""Regions of feature maps sampled on a grid, along borders and at anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import references_regions  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, Array, numbers, out_like

BINS = {"aligned_height": 2, "aligned_width": 3}
PLANES = (2, 3, 5, 4)


def regions(dtype: str = "float32") -> Array:
    return np.array([[1, 0.5, 1, 3.25, 4], [0, -1, 2, 6, 9], [1, 2, 2, 2, 2.5]])


def turned_regions() -> Array:
    return np.array([[1, 2, 2.5, 3, 2.5, 0.5], [0, 1, 1, 4, 3, -1.25], [0, 3, 3, 0.5, 0.25, 2.5]])


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_averages(vendor: Vendor, dtype: str, layout: str, ratio: int, aligned: bool) -> None:
    planes, top = numbers(PLANES, dtype, 30), numbers((3, 3, 2, 3), dtype, 31)
    common: dict[str, Any] = {"rois": regions(), "sampling_ratio": ratio, "spatial_scale": 0.5,
                              "aligned": aligned}  # fmt: skip
    pooled = {"pooled_height": 2, "pooled_width": 3}
    check_operator(vendor, "diopiRoiAlign", dtype, layout, input=planes, **common, **pooled)
    check_operator(
        vendor, "diopiRoiAlignBackward", dtype, layout, grad=top, batch_size=2, channels=3,
        height=5, width=4, **common, **pooled,
    )  # fmt: skip
    none = np.zeros(0)
    check_operator(
        vendor, "diopiRoiAlignMmcv", dtype, layout, input=planes, pool_mode=1, argmax_y=(0,),
        argmax_x=(0,), **common, **BINS,
    )  # fmt: skip
    check_operator(
        vendor, "diopiRoiAlignBackwardMmcv", dtype, layout, grad_input=planes, grad_output=top,
        pool_mode=1, argmax_y=none, argmax_x=none, **common, **BINS,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_maxima(vendor: Vendor, dtype: str, layout: str) -> None:
    planes, top = numbers(PLANES, dtype, 32), numbers((3, 3, 2, 3), dtype, 33)
    common: dict[str, Any] = {"rois": regions(), "sampling_ratio": 2, "spatial_scale": 0.5,
                              "aligned": True, "pool_mode": 0}  # fmt: skip
    check_operator(
        vendor, "diopiRoiAlignMmcv", dtype, layout, input=planes, argmax_y=top.shape,
        argmax_x=top.shape, **common, **BINS,
    )  # fmt: skip
    check_operator(
        vendor, "diopiRoiAlignBackwardMmcv", dtype, layout, grad_input=planes, grad_output=top,
        argmax_y=numbers(top.shape, dtype, 34, -2, 5),
        argmax_x=numbers(top.shape, dtype, 35, -2, 5), **common, **BINS,
    )  # fmt: skip


@pytest.mark.parametrize("clockwise", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_turned_regions(vendor: Vendor, dtype: str, layout: str, clockwise: bool) -> None:
    shape = (2, 6, 4, 3)
    planes, top = numbers(shape, dtype, 36), numbers((3, 6, 2, 3), dtype, 37)
    rois = turned_regions()
    common: dict[str, Any] = {"rois": rois, "spatial_scale": 0.5, "clockwise": clockwise}
    for name, more in (
        ("RoiAlignRotated", {"sampling_ratio": 1, "aligned": not clockwise, **BINS}),
        ("RiroiAlignRotated", {"num_samples": 1, "num_orientations": 3, "pooled_height": 2,
                               "pooled_width": 3}),
    ):  # fmt: skip
        source = "input" if name.startswith("Roi") else "features"
        check_operator(
            vendor, f"diopi{name}Mmcv", dtype, layout, **{source: planes}, **common, **more
        )
        check_operator(
            vendor, f"diopi{name}BackwardMmcv", dtype, layout, bottom_grad=planes, top_grad=top,
            **common, **more,
        )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_borders(vendor: Vendor, dtype: str, layout: str) -> None:
    boxes = np.array([[[0.5, 1, 3, 2.5], [-1, 0, 2, 4]], [[1, 1, 1, 1], [0, 0.25, 6, 5]]])
    check_operator(
        vendor, "diopiBorderAlignMmcv", dtype, layout, input=numbers((2, 8, 4, 3), dtype, 38),
        boxes=boxes, pool_size=4,
    )  # fmt: skip
    check_operator(
        vendor, "diopiBorderAlignBackwardMmcv", dtype, layout,
        grad_input=numbers((2, 8, 4, 3), dtype, 39), grad_output=numbers((2, 2, 2, 4), dtype, 40),
        boxes=boxes, argmax_idx=np.random.default_rng(41).integers(0, 5, (2, 2, 2, 4)), pool_size=4,
    )  # fmt: skip


@pytest.mark.parametrize("points", [1, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_anchors(vendor: Vendor, dtype: str, layout: str, points: int) -> None:
    planes, top = numbers((2, 2, 4, 3), dtype, 42), numbers((2, 2, 4, 3), dtype, 43)
    common = {"best_bboxes": numbers((2, 4, 3, 5), dtype, 44, 0, 6), "spatial_scale": 0.5,
              "points": points}  # fmt: skip
    name = "diopiRotatedFeatureAlign"
    check_operator(vendor, f"{name}Mmcv", dtype, layout, features=planes, **common)
    check_operator(
        vendor, f"{name}BackwardMmcv", dtype, layout, bottom_grad=planes, top_grad=top, **common
    )


def test_a_plane_that_slopes_is_pooled_to_the_middle_of_the_bin(vendor: Vendor) -> None:
    slope = np.arange(8.0)[:, None] * 2 + np.arange(8.0) * 3
    out = out_like(vendor, (1, 1, 1, 2), "float64")
    roi = vendor.tensor(np.array([[0, 1.5, 2.5, 5.5, 6.5]]))
    vendor.op.RoiAlign(out, vendor.tensor(slope[None, None]), roi, 1.0, 1, 2, 0, True)
    assert np.allclose(out.numpy(), [[[[4 * 2 + 2 * 3, 4 * 2 + 4 * 3]]]], 1e-14)


@pytest.mark.parametrize("clockwise", [False, True])
def test_directions_turn_by_the_angle_as_given(vendor: Vendor, clockwise: bool) -> None:
    """A quarter turn is one of four directions: each channel takes from the one before it."""
    planes = np.broadcast_to(np.array([1.0, 2, 3, 4])[None, :, None, None], (1, 4, 3, 3)).copy()
    roi = vendor.tensor(np.array([[0, 1, 1, 1, 1, np.pi / 2]]))
    out = out_like(vendor, (1, 4, 1, 1), "float64")
    vendor.op.RiroiAlignRotatedMmcv(out, vendor.tensor(planes), roi, 1, 1, 1, 4, 1.0, clockwise)
    np.testing.assert_array_equal(out.numpy().ravel(), [4, 1, 2, 3])


def test_bad_arguments_are_told(vendor: Vendor) -> None:
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
