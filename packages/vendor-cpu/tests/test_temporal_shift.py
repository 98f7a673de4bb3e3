"""Groups of channels shifted in time."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "TinShiftMmcv",
    "TinShiftBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_shifts_by_anything_stay_inside(vendor: Vendor) -> None:
    frames, out = (
        out_like(vendor, (1, 2, 2, 3), "float32"),
        out_like(vendor, (1, 2, 2, 3), "float32"),
    )
    far = np.array([[np.iinfo(np.int32).min, np.iinfo(np.int32).max]], np.int32)
    vendor.op.TinShiftMmcv(out, frames, vendor.tensor(far))
    assert not np.any(out.numpy())


def test_groups_that_do_not_divide_the_channels_are_reported(vendor: Vendor) -> None:
    frames = out_like(vendor, (1, 2, 4, 3), "float32")
    with pytest.raises(OperatorError, match="4 channels cannot be divided into 3 groups"):
        vendor.op.TinShiftMmcv(frames, frames, vendor.tensor(np.zeros((1, 3), np.int32)))
