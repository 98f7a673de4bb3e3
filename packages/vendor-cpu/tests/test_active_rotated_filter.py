"""Convolution filters rotated by a table."""

from __future__ import annotations

import numpy as np
import pytest

import references_points  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_rotated_filters(vendor: Vendor, dtype: str, layout: str) -> None:
    random = np.random.default_rng(85)
    table = np.stack([random.permutation(8) + 1 for _ in range(3)], -1).reshape(2, 2, 2, 3)
    check_operator(
        vendor, "diopiActiveRotatedFilterMmcv", dtype, layout,
        input=numbers((3, 2, 2, 2, 2), dtype, 86), indices=table,
    )  # fmt: skip
    check_operator(
        vendor, "diopiActiveRotatedFilterBackwardMmcv", dtype, layout,
        grad_out=numbers((9, 4, 2, 2), dtype, 87), indices=table,
    )  # fmt: skip


def test_places_outside_are_told(vendor: Vendor) -> None:
    filters, out = (
        out_like(vendor, (1, 1, 1, 1, 1), "float32"),
        out_like(vendor, (1,) * 4, "float32"),
    )
    with pytest.raises(OperatorError, match="index 0 at position 0 is out of range"):
        vendor.op.ActiveRotatedFilterMmcv(out, filters, vendor.tensor(np.zeros((1,) * 4, np.int32)))
