"""Tests of functions of three operands."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_addcmul_addcdiv_and_lerp(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 13), dtype, 41), dtype, layout)
    b, y = place(vendor, numbers((13,), dtype, 42, 1, 3), dtype)
    c, z = place(vendor, numbers((4, 1), dtype, 43, 1, 3), dtype)
    out = out_like(vendor, (4, 13), dtype, layout)
    scale = np.abs(x) + 9 + 2 * np.abs(y * z)
    for name, reference in (("Addcmul", x + 2 * y * z), ("Addcdiv", x + 2 * y / z)):
        vendor.op[f"diopi{name}"](out, a, b, c, 2)
        check(out, reference, OpClass.REDUCTION, name, reduction_length=2, magnitude=scale)
        d = place(vendor, x.astype(np.float64), dtype, layout)[0]
        vendor.op[f"diopi{name}Inp"](d, b, c, 2)
        assert np.array_equal(d.numpy(), out.numpy())
    weight, w = place(vendor, numbers((4, 1), dtype, 44, 0, 1), dtype)
    vendor.op.LerpTensor(out, a, b, weight)
    check(
        out, x + w * (y - x), OpClass.REDUCTION, "LerpTensor", reduction_length=2, magnitude=scale
    )
    vendor.op.LerpScalar(out, a, b, 0.25)
    check(
        out, x + (y - x) / 4, OpClass.REDUCTION, "LerpScalar", reduction_length=2, magnitude=scale
    )


def test_lerp_is_exact_at_both_ends(vendor: Vendor) -> None:
    a = vendor.tensor(np.array([0.1, 1e8], np.float32))
    b = vendor.tensor(np.array([0.7, 1.0], np.float32))
    out = out_like(vendor, (2,), "float32")
    vendor.op.LerpScalar(out, a, b, 1)
    assert np.array_equal(out.numpy(), b.numpy())
    vendor.op.LerpScalar(out, a, b, 0)
    assert np.array_equal(out.numpy(), a.numpy())
