"""Tests of convolution windows at chosen positions."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "MaskedIm2colMmcv",
    "MaskedCol2imMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_windows_of_one_cell_come_back(vendor: Vendor) -> None:
    image, places = np.arange(6.0).reshape(1, 1, 2, 3), np.argwhere(np.ones((2, 3)))
    ys, xs = (vendor.tensor(np.ascontiguousarray(places[:, k])) for k in range(2))
    columns, back = out_like(vendor, (1, 6), "float64"), out_like(vendor, (1, 1, 2, 3), "float64")
    vendor.op.MaskedIm2colMmcv(columns, vendor.tensor(image), ys, xs, 1, 1, 0, 0)
    vendor.op.MaskedCol2imMmcv(back, columns, ys, xs, 2, 3, 1)
    assert np.array_equal(back.numpy(), image)


def test_indices_out_of_bounds_are_reported(vendor: Vendor) -> None:
    image, columns = out_like(vendor, (1, 1, 2, 3), "float32"), out_like(vendor, (1, 1), "float32")
    with pytest.raises(OperatorError, match="index 2 at position 0 is out of range"):
        vendor.op.MaskedCol2imMmcv(
            image, columns, vendor.tensor(np.array([2])), vendor.tensor(np.array([0])), 2, 3, 1
        )
