"""Selection and slicing, copied and written."""

from __future__ import annotations

import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "Select",
    "SelectBackward",
    "SelectScatter",
    "Slice",
    "SliceBackward",
    "SliceScatter",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_bad_positions_are_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (3, 4), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"index 3 is out of range for dim 0 with 3 elements"):
        vendor.op.Select(out, x, 0, 3)
    with pytest.raises(OperatorError, match=r"index -4 is out of range"):
        vendor.op.SelectBackward(x, out, (3, 4), 0, -4)
    with pytest.raises(OperatorError, match=r"step is 0; it must be positive"):
        vendor.op.Slice(x, x, 0, 0, 3, 0)
    with pytest.raises(OperatorError, match=r"without dimensions"):
        vendor.op.Select(out_like(vendor, (), "float32"), out_like(vendor, (), "float32"), 0, 0)
    with pytest.raises(OperatorError, match=r"src does not have the shape of the chosen part"):
        vendor.op.SelectScatter(x, x, x, 0, 0)
    with pytest.raises(OperatorError, match=r"does not have the shape input_sizes"):
        vendor.op.SliceBackward(x, x, (3, 5), 0, 0, 3, 1)
