"""Tests of logical operators."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import REALS, check, numbers, out_like, place


@pytest.mark.parametrize("dtype", REALS)
def test_logic(vendor: Vendor, dtype: str) -> None:
    left, right = numbers((4, 9), dtype, 20, -1, 1), numbers((9,), dtype, 21, -1, 1)
    a, x = place(vendor, np.round(left), dtype)
    b, y = place(vendor, np.round(right), dtype)
    out = out_like(vendor, (4, 9), "bool")
    for name, reference in (("LogicalAnd", np.logical_and), ("LogicalOr", np.logical_or)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.array_equal(out.numpy(), reference(x, y))
        c = place(vendor, np.round(left), dtype)[0]
        vendor.op[f"diopi{name}Inp"](c, b)
        check(c, reference(x, y).astype(np.int64), OpClass.EXACT, name)
    vendor.op.LogicalNot(out, a)
    assert np.array_equal(out.numpy(), np.logical_not(x))
    vendor.op.LogicalNotInp(a)
    check(a, np.logical_not(x).astype(np.int64), OpClass.EXACT, "LogicalNotInp")
