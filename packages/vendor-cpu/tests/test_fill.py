"""Tests of fill."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.host import Scalar
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, out_like


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_fill_zeros_and_ones(vendor: Vendor, dtype: str, layout: str) -> None:
    for name, arguments, value in (
        ("Fill", (1,), 1),
        ("ZeroInp", (), 0),
        ("Ones", ((4, 9),), 1),
        ("Zeros", ((4, 9),), 0),
    ):
        out = out_like(vendor, (4, 9), dtype, layout)
        vendor.op[f"diopi{name}"](out, *arguments)
        check(out, np.full((4, 9), value), OpClass.EXACT, name)


def test_strided_output_leaves_the_gaps_alone(vendor: Vendor) -> None:
    wide = vendor.tensor(np.full((4, 6), 5, np.float32))
    vendor.op.Fill(wide.as_strided((4, 3), (6, 2)), 1)
    assert np.array_equal(wide.numpy(), np.tile([1, 5], (4, 3)))


@pytest.mark.parametrize("dtype", ["uint64", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("number", [0, 7, 2**63, 2**64 - 1])
def test_fill_takes_unsigned_numbers_of_64_bits(vendor: Vendor, dtype: str, number: int) -> None:
    out = vendor.empty((3,), dtype)
    vendor.op.Fill(out, Scalar(number, "uint64"))
    assert (out.numpy() == np.array(number, np.uint64).astype(dtype)).all()
