"""Masks of point-wise spatial attention."""

from __future__ import annotations

import numpy as np
import pytest

import references_points  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("psa_type", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_psamask(vendor: Vendor, dtype: str, layout: str, psa_type: int) -> None:
    sizes = {"num_": 2, "h_feature": 3, "w_feature": 4, "h_mask": 5, "w_mask": 3,
             "half_h_mask": 2, "half_w_mask": 1, "psa_type": psa_type}  # fmt: skip
    masks, attention = numbers((2, 15, 3, 4), dtype, 80), numbers((2, 12, 3, 4), dtype, 81)
    check_operator(
        vendor, "diopiPsamaskMmcv", dtype, layout, output=attention, input=masks, **sizes
    )
    check_operator(
        vendor, "diopiPsamaskBackwardMmcv", dtype, layout, grad_input=masks, grad_output=attention,
        **sizes,
    )  # fmt: skip


def test_masks_of_another_size_are_told(vendor: Vendor) -> None:
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
