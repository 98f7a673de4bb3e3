"""Steps of Adadelta and RMSprop."""

from __future__ import annotations

import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "Adadelta",
    "Rmsprop",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_states_that_are_missing(vendor: Vendor) -> None:
    x = out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRmsprop\] centered needs grad_avg"):
        vendor.op.Rmsprop(x, x, x, None, None, 0.1, 0.9, 1e-6, 0, 0, True)
    with pytest.raises(OperatorError, match=r"\[diopiRmsprop\] momentum needs momentum_buf"):
        vendor.op.Rmsprop(x, x, x, None, None, 0.1, 0.9, 1e-6, 0, 0.9, False)
    wrong = out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiAdadelta\].* have different shapes"):
        vendor.op.Adadelta(x, x, wrong, x, 0.1, 0.9, 1e-6, 0)
