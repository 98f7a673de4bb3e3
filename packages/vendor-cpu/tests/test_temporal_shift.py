"""Groups of channels shifted in time."""

from __future__ import annotations

import numpy as np
import pytest

import references_points  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_tin_shift(vendor: Vendor, dtype: str, layout: str) -> None:
    frames, shift = numbers((2, 5, 6, 4), dtype, 82), np.array([[1, -2, 0], [5, -9, 3]])
    check_operator(vendor, "diopiTinShiftMmcv", dtype, layout, input=frames, shift=shift)
    check_operator(
        vendor, "diopiTinShiftBackwardMmcv", dtype, layout, grad_output=frames, shift=shift
    )


def test_shifts_by_anything_stay_inside(vendor: Vendor) -> None:
    frames, out = (
        out_like(vendor, (1, 2, 2, 3), "float32"),
        out_like(vendor, (1, 2, 2, 3), "float32"),
    )
    far = np.array([[np.iinfo(np.int32).min, np.iinfo(np.int32).max]], np.int32)
    vendor.op.TinShiftMmcv(out, frames, vendor.tensor(far))
    assert not np.any(out.numpy())


def test_groups_that_do_not_divide_the_channels_are_told(vendor: Vendor) -> None:
    frames = out_like(vendor, (1, 2, 4, 3), "float32")
    with pytest.raises(OperatorError, match="4 channels cannot be divided into 3 groups"):
        vendor.op.TinShiftMmcv(frames, frames, vendor.tensor(np.zeros((1, 3), np.int32)))
