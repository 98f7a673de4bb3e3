"""Division by norms, and gradients of norms."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "NormBackward",
    "Normalize",
    "NormalizeBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_norms_of_zeros_have_no_slope(vendor: Vendor) -> None:
    out, zeros = out_like(vendor, (3,), "float32"), vendor.tensor(np.zeros(3, np.float32))
    one, nothing = vendor.tensor(np.float32(1)), vendor.tensor(np.float32(0))
    for p in (1, 2, 3):
        vendor.op.NormBackward(out, one, zeros, nothing, None, p)
        assert out.numpy().tolist() == [0, 0, 0]


def test_shapes_that_do_not_fit(vendor: Vendor) -> None:
    x, wrong = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"one element for each of the 2 norms"):
        vendor.op.NormBackward(x, wrong, x, wrong, (1,), 2)
    with pytest.raises(OperatorError, match=r"\[diopiNormalize\] dim 2 is out of range"):
        vendor.op.Normalize(x, x, 2.0, 2, 1e-12)
