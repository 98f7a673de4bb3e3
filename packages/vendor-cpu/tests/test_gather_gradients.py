"""Gradients of gathering."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "IndexSelectBackward",
    "GatherBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_no_dimensions(vendor: Vendor) -> None:
    grad, zero = vendor.tensor(np.array(2.5, np.float32)), vendor.tensor(np.array(0))
    out = out_like(vendor, (), "float32")
    vendor.op.GatherBackward(out, grad, out_like(vendor, (), "float32"), 0, zero)
    assert out.numpy() == 2.5


def test_bad_positions_are_named(vendor: Vendor) -> None:
    out, grad = out_like(vendor, (3, 2), "float32"), out_like(vendor, (2, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiIndexSelectBackward\] index 3 at position 1"):
        vendor.op.IndexSelectBackward(out, grad, (3, 2), 0, vendor.tensor(np.array([0, 3])))
    wrong = vendor.tensor(np.array([[-1, 0], [0, 0]]))
    with pytest.raises(OperatorError, match=r"\[diopiGatherBackward\] index -1 at position 0"):
        vendor.op.GatherBackward(out, grad, out, 0, wrong)
    with pytest.raises(OperatorError, match=r"the index has 2 dimensions; it needs 1"):
        vendor.op.IndexSelectBackward(out, grad, (3, 2), 0, wrong)
