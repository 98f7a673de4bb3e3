"""Masks of point-wise spatial attention."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "PsamaskMmcv",
    "PsamaskBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_masks_of_another_size_are_reported(vendor: Vendor) -> None:
    out, masks = (
        out_like(vendor, (1, 4, 2, 2), "float32"),
        out_like(vendor, (1, 8, 2, 2), "float32"),
    )
    with pytest.raises(OperatorError, match="there are 8 channels for masks of 3 by 3"):
        vendor.op.PsamaskMmcv(out, masks, 0, 1, 2, 2, 3, 3, 1, 1)


def test_a_mask_of_one_cell_is_a_diagonal(vendor: Vendor) -> None:
    out, masks = np.zeros((1, 4, 2, 2)), np.arange(4.0).reshape(1, 1, 2, 2)
    result = vendor.tensor(out)
    vendor.op.PsamaskMmcv(result, vendor.tensor(masks), 0, 1, 2, 2, 1, 1, 0, 0)
    assert np.array_equal(result.numpy().reshape(4, 4), np.diag(np.arange(4.0)))
