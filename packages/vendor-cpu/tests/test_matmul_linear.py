"""Linear layers and their gradients."""

from __future__ import annotations

import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "Linear",
    "LinearBackward",
    "MatmulAllReduce",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}", models=False)


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, weight = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4, 5), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiLinear\] input, weight and output"):
        vendor.op.Linear(out_like(vendor, (2, 4), "float32"), x, weight, None)
    with pytest.raises(OperatorError, match=r"\[diopiMatmulAllReduce\] bias has 2 elements"):
        vendor.op.MatmulAllReduce(
            out_like(vendor, (2, 5), "float32"), out_like(vendor, (2, 4), "float32"), weight,
            out_like(vendor, (2,), "float32"), "", "sum", 0, 1,
        )  # fmt: skip
