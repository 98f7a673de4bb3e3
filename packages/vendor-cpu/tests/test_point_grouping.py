"""Features of points gathered in groups."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "AssignScoreWithkMmcv",
    "AssignScoreWithkBackwardMmcv",
    "GatherPointsMmcv",
    "GatherPointsBackwardMmcv",
    "GroupPointsMmcv",
    "GroupPointsBackwardMmcv",
    "StackGroupPointsMmcv",
    "StackGroupPointsBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_indices_out_of_bounds_are_reported(vendor: Vendor) -> None:
    out, points = out_like(vendor, (1, 2, 2), "float32"), out_like(vendor, (1, 2, 3), "float32")
    wrong = vendor.tensor(np.array([[0, 3]], np.int32))
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.GatherPointsMmcv(out, points, wrong, 1, 2, 3, 2)
    with pytest.raises(OperatorError, match=r"out has the shape \[1, 2, 2\]; it needs \[1, 2, 4\]"):
        vendor.op.GatherPointsMmcv(out, points, wrong, 1, 2, 3, 4)
