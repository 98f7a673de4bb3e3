"""Tests of upsampling, filtering and downsampling of images in one operator."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

PLAIN = dict.fromkeys(("up_x", "up_y", "down_x", "down_y"), 1) | dict.fromkeys(
    ("pad_x0", "pad_x1", "pad_y0", "pad_y1"), 0
)


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiUpfirdn2dOpMmcv")


def test_upsampling_comes_back_by_downsampling(vendor: Vendor) -> None:
    image = numbers((2, 3, 7, 5), "float32", 4).astype(np.float32)
    one = vendor.tensor(np.ones((1, 1), np.float32))
    wide = vendor.op.Upfirdn2dOpMmcv(
        vendor.tensor(image), one, *(PLAIN | {"up_x": 3, "up_y": 2}).values()
    )
    assert wide.shape == (2, 3, 14, 15)
    back = vendor.op.Upfirdn2dOpMmcv(wide, one, *(PLAIN | {"down_x": 3, "down_y": 2}).values())
    assert np.array_equal(back.numpy(), image)


def test_two_filters_are_the_filter_of_their_convolution(vendor: Vendor) -> None:
    image = numbers((1, 2, 9, 8), "float64", 4)
    down, across = numbers((3, 1), "float64", 5), numbers((1, 4), "float64", 6)
    first = vendor.op.Upfirdn2dOpMmcv(vendor.tensor(image), vendor.tensor(down), *PLAIN.values())
    second = vendor.op.Upfirdn2dOpMmcv(first, vendor.tensor(across), *PLAIN.values())
    both = vendor.tensor(down * across)
    at_once = vendor.op.Upfirdn2dOpMmcv(vendor.tensor(image), both, *PLAIN.values())
    np.testing.assert_allclose(second.numpy(), at_once.numpy(), rtol=1e-12, atol=1e-12)


BAD = {
    "up 0 and down 1 along x": {"up_x": 0},
    "up 1 and down -1 along y": {"down_y": -1},
    "give numbers from 1 to 2.20": {"down_x": 2**62},
    "are too many": {"pad_y0": 2**62},
    "a filter of 3 does not fit on 2 upsampled": {"pad_x0": -2},
    "does not fit on -196 upsampled": {"pad_y1": -200},
    "has too many elements": {"pad_x0": 2**35, "pad_y1": 2**35},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments_are_reported(vendor: Vendor, message: str) -> None:
    image, kernel = out_like(vendor, (1, 2, 4, 4), "float32"), out_like(vendor, (3, 3), "float32")
    with pytest.raises(OperatorError, match=message):
        vendor.op.Upfirdn2dOpMmcv(image, kernel, *(PLAIN | BAD[message]).values())


def test_misshapen_tensors_are_reported(vendor: Vendor) -> None:
    image, flat = out_like(vendor, (1, 2, 4, 4), "float32"), out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match="the kernel has the shape"):
        vendor.op.Upfirdn2dOpMmcv(image, flat, *PLAIN.values())
    with pytest.raises(OperatorError, match="the input has the shape"):
        vendor.op.Upfirdn2dOpMmcv(flat, flat, *PLAIN.values())
    empty = out_like(vendor, (0, 2), "float32")
    with pytest.raises(OperatorError, match="a filter of 0 does not fit"):
        vendor.op.Upfirdn2dOpMmcv(image, empty, *PLAIN.values())
