"""Softmax of scaled and masked scores."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "ScaledMaskedSoftmax",
    "ScaledMaskedSoftmaxBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_rows_that_are_hidden_whole_are_even(vendor: Vendor) -> None:
    out, x = out_like(vendor, (1, 1, 2, 4), "float32"), out_like(vendor, (1, 1, 2, 4), "float32")
    mask = vendor.tensor(np.ones((1, 1, 2, 4), bool))
    vendor.op.ScaledMaskedSoftmax(out, x, mask, 1.0, False)
    assert np.all(out.numpy() == 0.25)


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 4), "float32")
    mask = vendor.tensor(np.ones((3,), bool))
    with pytest.raises(OperatorError, match=r"the input has 2 dimensions; it needs 4"):
        vendor.op.ScaledMaskedSoftmax(x, x, mask, 1.0, False)
    x = out_like(vendor, (1, 1, 2, 4), "float32")
    with pytest.raises(OperatorError, match=r"the mask has 3 elements"):
        vendor.op.ScaledMaskedSoftmax(x, x, mask, 1.0, False)
