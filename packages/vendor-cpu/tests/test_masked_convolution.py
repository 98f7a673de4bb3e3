"""Windows of a convolution at chosen places."""

from __future__ import annotations

import numpy as np
import pytest

import references_points  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_windows_and_back(vendor: Vendor, dtype: str, layout: str) -> None:
    image = numbers((1, 3, 5, 4), dtype, 83)
    at = {"mask_h_idx": np.array([0, 2, 4, 4]), "mask_w_idx": np.array([0, 3, 1, 3])}
    check_operator(
        vendor, "diopiMaskedIm2colMmcv", dtype, layout, im=image, kernel_h=3, kernel_w=2, pad_h=1,
        pad_w=1, **at,
    )  # fmt: skip
    check_operator(
        vendor, "diopiMaskedCol2imMmcv", dtype, layout, im=image, col=numbers((3, 4), dtype, 84),
        height=5, width=4, channels=3, **at,
    )  # fmt: skip


def test_windows_of_one_cell_come_back(vendor: Vendor) -> None:
    image, places = np.arange(6.0).reshape(1, 1, 2, 3), np.argwhere(np.ones((2, 3)))
    ys, xs = (vendor.tensor(np.ascontiguousarray(places[:, k])) for k in range(2))
    columns, back = out_like(vendor, (1, 6), "float64"), out_like(vendor, (1, 1, 2, 3), "float64")
    vendor.op.MaskedIm2colMmcv(columns, vendor.tensor(image), ys, xs, 1, 1, 0, 0)
    vendor.op.MaskedCol2imMmcv(back, columns, ys, xs, 2, 3, 1)
    assert np.array_equal(back.numpy(), image)


def test_places_outside_are_told(vendor: Vendor) -> None:
    image, columns = out_like(vendor, (1, 1, 2, 3), "float32"), out_like(vendor, (1, 1), "float32")
    with pytest.raises(OperatorError, match="index 2 at position 0 is out of range"):
        vendor.op.MaskedCol2imMmcv(
            image, columns, vendor.tensor(np.array([2])), vendor.tensor(np.array([0])), 2, 3, 1
        )
