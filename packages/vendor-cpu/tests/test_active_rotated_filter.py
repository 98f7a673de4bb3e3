"""Tests of convolution filters rotated by a table."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "ActiveRotatedFilterMmcv",
    "ActiveRotatedFilterBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_indices_out_of_bounds_are_reported(vendor: Vendor) -> None:
    filters, out = (
        out_like(vendor, (1, 1, 1, 1, 1), "float32"),
        out_like(vendor, (1,) * 4, "float32"),
    )
    with pytest.raises(OperatorError, match="index 0 at position 0 is out of range"):
        vendor.op.ActiveRotatedFilterMmcv(out, filters, vendor.tensor(np.zeros((1,) * 4, np.int32)))
