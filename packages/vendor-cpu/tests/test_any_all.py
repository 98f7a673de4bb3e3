"""Tests of any and all."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from support import FLOATS, REALS, numbers, out_like, place


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_any_and_all(vendor: Vendor, dtype: str, dim: int | None) -> None:
    source = numbers((6, 70), dtype, 77, 0, 1)
    source = np.round(source) if dtype in FLOATS else source
    source[2] = 0
    source[3] = 1
    for name, reference in (("Any", np.any), ("All", np.all)):
        a, x = place(vendor, source, dtype)
        want = reference(x, axis=dim)
        out = out_like(vendor, want.shape, "bool")
        vendor.op[f"diopi{name}"](out, a, dim)
        assert np.array_equal(out.numpy(), want)


def test_nan_is_true(vendor: Vendor) -> None:
    out = out_like(vendor, (), "bool")
    vendor.op.Any(out, vendor.tensor(np.array([0.0, np.nan], np.float32)), None)
    assert out.numpy()
