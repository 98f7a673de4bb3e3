"""Norms of any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass, Order
from support import DIMS, FLOATS, LAYOUTS, axes, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_norm(vendor: Vendor, dtype: str, dims: tuple[int, ...] | None, layout: str) -> None:
    a, x = place(vendor, numbers((5, 17, 40), dtype, 103), dtype, layout)
    size = np.abs(x)
    for p in (None, 0, 1, 2, 3.5, np.inf, -np.inf):
        order = 2.0 if p is None else float(p)
        if order == np.inf:
            want = np.max(size, axis=axes(dims))
        elif order == -np.inf:
            want = np.min(size, axis=axes(dims))
        elif order == 0:
            want = np.sum(size != 0, axis=axes(dims))
        else:
            want = np.sum(size**order, axis=axes(dims)) ** (1 / order)
        bound: dict[str, Any] = {"reduction_length": 256, "magnitude": want, "order": Order.ANY}
        for name in ("Norm", "LinalgVecNorm"):
            if name == "LinalgVecNorm" and p is None:
                continue
            out = out_like(vendor, want.shape, dtype)
            rest = (a, p, dims) if name == "Norm" else (a, p, dims, False)
            vendor.op[f"diopi{name}"](out, *rest)
            check(out, want, OpClass.REDUCTION, name, **bound)


def test_norm_in_double(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((9, 500), "float32", 104), "float32", "transposed")
    want = np.sqrt(np.sum(x * x, axis=1))
    out = out_like(vendor, (9,), "float64")
    vendor.op.Norm(out, a, 2, (1,))
    check(out, want, OpClass.REDUCTION, "Norm", reduction_length=500, magnitude=want)


def test_norm_of_nothing(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    vendor.op.Norm(out, out_like(vendor, (0,), "float32"), 2, None)
    assert out.numpy() == 0.0
    with pytest.raises(OperatorError, match=r"\[diopiNorm\].*empty tensor"):
        vendor.op.Norm(out, out_like(vendor, (0,), "float32"), np.inf, None)
