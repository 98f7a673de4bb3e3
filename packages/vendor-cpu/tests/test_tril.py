"""Tests of triangles of matrices."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("diagonal", [-(2**63), -7, -2, 0, 1, 9, 2**63 - 1])
@pytest.mark.parametrize("dtype", REALS)
def test_triangles(vendor: Vendor, dtype: str, diagonal: int, layout: str) -> None:
    a, x = place(vendor, numbers((3, 5, 7), dtype, 148), dtype, layout)
    out = out_like(vendor, (3, 5, 7), dtype, layout)
    nearest = min(max(diagonal, -9), 9)  # the range that NumPy accepts
    vendor.op.Tril(out, a, diagonal)
    check(out, np.tril(x, nearest), OpClass.EXACT, "Tril")
    vendor.op.Triu(out, a, diagonal)
    check(out, np.triu(x, nearest), OpClass.EXACT, "Triu")
    vendor.op.TriuInp(a, diagonal)
    check(a, np.triu(x, nearest), OpClass.EXACT, "TriuInp")
