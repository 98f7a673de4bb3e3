"""Tests of multi-scale deformable attention."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

SHAPES, STARTS = np.array([[3, 2], [1, 2]]), np.array([0, 6])


OPERATORS = (
    "MsDeformAttnMmcv",
    "MsDeformAttnBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_levels_outside_the_input_are_reported(vendor: Vendor) -> None:
    value, places = out_like(vendor, (1, 8, 1, 2), "float32"), np.zeros((1, 1, 1, 2, 1, 2))
    weights = out_like(vendor, (1, 1, 1, 2, 1), "float32")
    with pytest.raises(OperatorError, match="level 1, starting at 7, is not within the values"):
        vendor.op.MsDeformAttnMmcv(
            value, vendor.tensor(SHAPES), vendor.tensor(np.array([0, 7])),
            vendor.tensor(places.astype(np.float32)), weights, 64,
        )  # fmt: skip
