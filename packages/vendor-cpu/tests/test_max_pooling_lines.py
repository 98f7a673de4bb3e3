"""Max pooling over one dimension."""

from __future__ import annotations

import pytest

from diopi_proto import Vendor
from suite import check_cases

OPERATORS = (
    "MaxPool1d",
    "MaxPool1dWithIndices",
    "MaxPool1dBackward",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool1dWithIndices",
    "AdaptiveMaxPool1dBackward",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")
