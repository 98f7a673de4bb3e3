"""Root-mean-square normalization and its gradient."""

from __future__ import annotations

import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "RMSNorm",
    "RMSNormBackward",
    "RootMeanSquareNormInp",
    "FusedAddRootMeanSquareNormInp",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}", models=False)


def test_scales_of_another_length(vendor: Vendor) -> None:
    x, scale = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRootMeanSquareNormInp\].* 3 elements"):
        vendor.op.RootMeanSquareNormInp(x, scale, 1e-5)
