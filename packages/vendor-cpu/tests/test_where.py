"""Tests of selection by a mask."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, exact, numbers, out_like, place, stored


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_where_broadcasts(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((5, 9), dtype, 35), dtype, layout)
    b, y = place(vendor, numbers((9,), dtype, 36), dtype)
    flags = numbers((5, 1), "bool", 37)
    out = out_like(vendor, (5, 9), dtype, layout)
    vendor.op.Where(out, vendor.tensor(flags), a, b)
    check(out, np.where(flags, x, y), OpClass.EXACT, "Where")


def test_where_moves_complex_numbers(vendor: Vendor) -> None:
    x = np.array([1 + 2j, 3 + 4j])
    out = vendor.tensor(np.zeros(2, np.complex128))
    vendor.op.Where(
        out, vendor.tensor(np.array([True, False])), vendor.tensor(x), vendor.tensor(-x)
    )
    assert out.numpy().tolist() == [1 + 2j, -3 - 4j]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_masked_fill(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((5, 9), dtype, 38)
    mask = numbers((9,), "bool", 39)
    m = vendor.tensor(mask)
    a, x = place(vendor, source, dtype, layout)
    want = np.where(mask, exact(stored(1, dtype), dtype), x)
    out = out_like(vendor, (5, 9), dtype, layout)
    vendor.op.MaskedFillScalar(out, a, m, 1)
    check(out, want, OpClass.EXACT, "MaskedFillScalar")
    out = out_like(vendor, (5, 9), dtype, layout)
    vendor.op.MaskedFill(out, a, m, vendor.tensor(np.array(1, np.int64)))
    check(out, want, OpClass.EXACT, "MaskedFill")
    vendor.op.MaskedFillInpScalar(a, m, 1)
    check(a, want, OpClass.EXACT, "MaskedFillInpScalar")
    b = place(vendor, source, dtype, layout)[0]
    vendor.op.MaskedFillInp(b, m, place(vendor, 1, dtype)[0])
    check(b, want, OpClass.EXACT, "MaskedFillInp")


def test_operands_of_two_dtypes_are_promoted(vendor: Vendor) -> None:
    condition = vendor.tensor(np.array([True, False]))
    a = vendor.tensor(np.array([1.5, 2.5], np.float32))
    b = vendor.tensor(np.array([3.25, 4.25]))
    for dtype in ("float64", "float32"):
        out = out_like(vendor, (2,), dtype)
        vendor.op.Where(out, condition, a, b)
        assert out.numpy().tolist() == [1.5, 4.25]
