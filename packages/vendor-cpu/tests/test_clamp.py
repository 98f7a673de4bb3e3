"""Tests of clamping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, NUMBERS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_clamp_with_scalars(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((4, 21), dtype, 31, -9, 9)
    a, x = place(vendor, source, dtype, layout)
    out = out_like(vendor, (4, 21), dtype, layout)
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("ClampScalar", (2, 5), np.clip(x, 2, 5)),
        ("ClampScalar", (None, 5), np.minimum(x, 5)),
        ("ClampScalar", (5, 2), np.full_like(x, 2)),
        ("ClampMinScalar", (2,), np.maximum(x, 2)),
        ("ClampMaxScalar", (2,), np.minimum(x, 2)),
    ]
    for name, bounds, want in cases:
        vendor.op[f"diopi{name}"](out, a, *bounds)
        check(out, want, OpClass.EXACT, name)
        b = place(vendor, source, dtype, layout)[0]
        vendor.op[f"diopi{name.replace('Scalar', 'InpScalar')}"](b, *bounds)
        assert np.array_equal(b.numpy(), out.numpy())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_clamp_with_tensors(vendor: Vendor, dtype: str) -> None:
    source = numbers((4, 21), dtype, 32, -9, 9)
    a, x = place(vendor, source, dtype)
    low, lows = place(vendor, numbers((21,), dtype, 33, -5, 1), dtype)
    high, highs = place(vendor, numbers((4, 1), dtype, 34, 1, 6), dtype)
    out = out_like(vendor, (4, 21), dtype)
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("Clamp", (low, high), np.minimum(np.maximum(x, lows), highs)),
        ("Clamp", (None, high), np.minimum(x, highs)),
        ("ClampMin", (low,), np.maximum(x, lows)),
        ("ClampMax", (high,), np.minimum(x, highs)),
    ]
    for name, bounds, want in cases:
        vendor.op[f"diopi{name}"](out, a, *bounds)
        check(out, want, OpClass.EXACT, name)
        b = place(vendor, source, dtype)[0]
        vendor.op[f"diopi{name}Inp"](b, *bounds)
        assert np.array_equal(b.numpy(), out.numpy())


def test_clamp_keeps_nan(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([np.nan, -9.0, 9.0], np.float32))
    out = out_like(vendor, (3,), "float32")
    vendor.op.ClampScalar(out, a, -1, 1)
    assert np.isnan(out.numpy()[0])
    assert out.numpy()[1:].tolist() == [-1.0, 1.0]


def test_clamp_needs_a_bound(vendor: Vendor) -> None:
    a = out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="neither min nor max"):
        vendor.op.ClampScalar(a, a, None, None)
