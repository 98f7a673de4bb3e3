"""Elements and slices by index."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_index_select(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 145), dtype, layout)
    index = np.array([3, 0, 3, 1])
    want = np.take(x, index, axis=dim)
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.IndexSelect(out, a, dim, vendor.tensor(index))
    check(out, want, OpClass.EXACT, "IndexSelect")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_gather(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 146), dtype, layout)
    index = np.random.default_rng(147).integers(0, 4, (3, 4, 2))
    # The index may be smaller than the input in the other dims.
    part = tuple(slice(None) if d == dim % 3 else slice(n) for d, n in enumerate(index.shape))
    want = np.take_along_axis(x[part], index, axis=dim)
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Gather(out, a, dim, place(vendor, index, "int64", layout)[0])
    check(out, want, OpClass.EXACT, "Gather")


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", REALS)
def test_gather_by_an_index_that_repeats(vendor: Vendor, dtype: str, dim: int) -> None:
    a, x = place(vendor, numbers((6, 6), dtype, 148), dtype)
    index = np.array([5, 0, 5, 2])
    spread = np.broadcast_to(index[:, None], (4, 6)) if dim == 0 else np.broadcast_to(index, (6, 4))
    out = out_like(vendor, spread.shape, dtype)
    vendor.op.Gather(out, a, dim, vendor.tensor(spread))
    check(out, np.take_along_axis(x, spread, axis=dim), OpClass.EXACT, "Gather")


def test_gather_without_dimensions(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    vendor.op.Gather(out, vendor.tensor(np.array(4, np.float32)), 0, vendor.tensor(np.array(0)))
    assert out.numpy() == 4.0


@pytest.mark.parametrize("bad", [7, -1])
def test_index_out_of_range_is_named(vendor: Vendor, bad: int) -> None:
    w = out_like(vendor, (7, 2), "float32")
    i = vendor.tensor(np.array([0, bad]))
    message = rf"\[diopiIndexSelect\] index {bad} at position 1 is out of range \[0, 7\)"
    with pytest.raises(OperatorError, match=message):
        vendor.op.IndexSelect(out_like(vendor, (2, 2), "float32"), w, 0, i)
    wide = vendor.tensor(np.array([[0, 0], [bad, 0]]))
    with pytest.raises(OperatorError, match=rf"\[diopiGather\] index {bad} at position 2"):
        vendor.op.Gather(out_like(vendor, (2, 2), "float32"), w, 0, wide)
