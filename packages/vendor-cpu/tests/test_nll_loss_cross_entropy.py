"""Cross entropy and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "CrossEntropyLoss",
    "CrossEntropyLossBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}", models=False)


def test_targets_that_do_not_fit(vendor: Vendor) -> None:
    x, out = out_like(vendor, (2, 3), "float32"), out_like(vendor, (), "float32")
    rest = (None, "mean", -100, 0.0)
    wrong = vendor.tensor(np.array([0, 3]))
    with pytest.raises(OperatorError, match=r"target 3 at position 1 is out of range for 3"):
        vendor.op.CrossEntropyLoss(out, x, wrong, *rest)
    wrong = out_like(vendor, (3, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiCrossEntropyLoss\] the target has neither"):
        vendor.op.CrossEntropyLoss(out, x, wrong, *rest)
