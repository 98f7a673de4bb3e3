"""Tests of extrema and their positions."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, NUMBERS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_positions_of_extrema(vendor: Vendor, dtype: str, dim: int | None, layout: str) -> None:
    # Few distinct values: the first of equal ones must win.
    a, x = place(vendor, np.round(numbers((6, 9, 30), dtype, 78, 0, 4)), dtype, layout)
    for name, reference in (("Argmax", np.argmax), ("Argmin", np.argmin)):
        want = reference(x, axis=dim)
        out = out_like(vendor, np.shape(want), "int64")
        vendor.op[f"diopi{name}"](out, a, dim, False)
        assert np.array_equal(out.numpy(), want)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_extrema_with_positions(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((6, 9, 30), dtype, 79, -100, 100), dtype, layout)
    for name, value, position in (("Max", np.max, np.argmax), ("Min", np.min, np.argmin)):
        for keep in (False, True):
            want = value(x, axis=dim, keepdims=keep)
            out, where = out_like(vendor, want.shape, dtype), out_like(vendor, want.shape, "int64")
            vendor.op[f"diopi{name}"](out, where, a, dim)
            check(out, want, OpClass.EXACT, name)
            assert np.array_equal(where.numpy(), position(x, axis=dim, keepdims=keep))


@pytest.mark.parametrize("columns", [7, 8, 63, 64, 200])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8", "int64"])
def test_positions_of_extrema_across_rows(vendor: Vendor, dtype: str, columns: int) -> None:
    # The tensor has more rows than uint8 can count.
    source = np.round(numbers((300, columns), dtype, 82, 0, 5))
    if dtype == "float32":
        source[7, 3] = source[9, 3] = np.nan
    a, x = place(vendor, source, dtype)
    for name, value, position in (("Max", np.max, np.argmax), ("Min", np.min, np.argmin)):
        out, where = out_like(vendor, (columns,), dtype), out_like(vendor, (columns,), "int64")
        vendor.op[f"diopi{name}"](out, where, a, 0)
        check(out, value(x, axis=0), OpClass.EXACT, name)
        assert np.array_equal(where.numpy(), position(x, axis=0))


@pytest.mark.parametrize("at", [3, 65_535, 65_536, 199_999])
def test_position_in_a_long_tensor(vendor: Vendor, at: int) -> None:
    source = np.zeros(200_000, np.float32)
    source[at] = source[-1] = 1
    out = out_like(vendor, (), "int64")
    vendor.op.Argmax(out, vendor.tensor(source), None, False)
    assert out.numpy() == at


@pytest.mark.parametrize("at", [0, 5, 63, 64, 200])
def test_extrema_find_nan_anywhere(vendor: Vendor, at: int) -> None:
    source = np.ones(201, np.float32)
    source[at] = np.nan
    where = out_like(vendor, (), "int64")
    for name in ("Argmax", "Argmin"):
        vendor.op[f"diopi{name}"](where, vendor.tensor(source), None, False)
        assert where.numpy() == at
