"""Tests of bitwise operators."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from support import INTS, numbers, out_like, place


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
def test_bits(vendor: Vendor, dtype: str) -> None:
    left, right = numbers((4, 9), dtype, 22, -99, 99), numbers((9,), dtype, 23, -99, 99)
    a, x = place(vendor, left, dtype)
    b, y = place(vendor, right, dtype)
    out = out_like(vendor, (4, 9), dtype)
    scalar = True if dtype == "bool" else 5
    for name, reference in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or)):
        vendor.op[f"diopi{name}"](out, a, b)
        assert np.array_equal(out.numpy(), reference(x, y))
        vendor.op[f"diopi{name}Scalar"](out, a, scalar)
        assert np.array_equal(out.numpy(), reference(x, np.array(scalar, dtype)))
        c, d = place(vendor, left, dtype)[0], place(vendor, left, dtype)[0]
        vendor.op[f"diopi{name}Inp"](c, b)
        assert np.array_equal(c.numpy(), reference(x, y))
        vendor.op[f"diopi{name}InpScalar"](d, scalar)
        assert np.array_equal(d.numpy(), reference(x, np.array(scalar, dtype)))
    vendor.op.BitwiseNot(out, a)
    assert np.array_equal(out.numpy(), np.bitwise_not(x))
    vendor.op.BitwiseNotInp(a)
    assert np.array_equal(a.numpy(), np.bitwise_not(x))
