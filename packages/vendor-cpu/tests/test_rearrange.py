"""Tests of rearrangements of elements."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", [[0], [-1], [0, 2], [0, 1, 2], []], ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_flip(vendor: Vendor, dtype: str, dims: list[int], layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 70), dtype, 321), dtype, layout)
    out = out_like(vendor, x.shape, dtype, layout)
    vendor.op.Flip(out, a, dims)
    check(out, np.flip(x, dims) if dims else x, OpClass.EXACT, "Flip")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("shifts", "dims"), [([1], [0]), ([-2, 5], [1, -1]), ([1, 2], [2, 2]), ([7, 0, 3], [0, 1, 2])]
)
@pytest.mark.parametrize("dtype", REALS)
def test_roll(vendor: Vendor, dtype: str, shifts: list[int], dims: list[int], layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 322), dtype, layout)
    out = out_like(vendor, x.shape, dtype, layout)
    vendor.op.Roll(out, a, shifts, dims)
    check(out, np.roll(x, shifts, dims), OpClass.EXACT, "Roll")


def test_roll_of_all_elements(vendor: Vendor) -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.Roll(out, vendor.tensor(x), [-5], [])
    assert np.array_equal(out.numpy(), np.roll(x, -5))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_repeat_and_permute(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((3, 4, 5), dtype, 323), dtype, layout)
    want = np.tile(x, (2, 1, 3, 2))
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Repeat(out, a, [2, 1, 3, 2])
    check(out, want, OpClass.EXACT, "Repeat")
    out = out_like(vendor, (5, 3, 4), dtype, layout)
    vendor.op.Permute(out, a, [2, 0, -2])
    check(out, x.transpose(2, 0, 1), OpClass.EXACT, "Permute")
    out = out_like(vendor, (5, 4, 3), dtype, layout)
    vendor.op.Transpose(out, a, 0, -1)
    check(out, x.transpose(2, 1, 0), OpClass.EXACT, "Transpose")


@pytest.mark.parametrize("repeats", [1 << 62, (1 << 62) + 1, -1])
def test_repeats_that_cannot_be_counted_are_refused(vendor: Vendor, repeats: int) -> None:
    """The number of elements overflows: times 4, it is 0 or 4 in 64 bits."""
    line = out_like(vendor, (4,), "float32")
    for size in (0, 4):
        with pytest.raises(OperatorError, match=f"{repeats} repeats of 4 elements"):
            vendor.op.Repeat(out_like(vendor, (size,), "float32"), line, [repeats])
