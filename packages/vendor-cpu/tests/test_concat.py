"""Tests of concatenation."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import LAYOUTS, REALS, check, numbers, out_like, place


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_along_any_dim(vendor: Vendor, dtype: str, dim: int) -> None:
    sizes = [(2, 5), (2, 5), (2, 5)]
    placed = [
        place(vendor, numbers(s, dtype, 45 + i), dtype, LAYOUTS[i]) for i, s in enumerate(sizes)
    ]
    want = np.concatenate([x for _, x in placed], axis=dim)
    out = out_like(vendor, want.shape, dtype)
    vendor.op.Cat(out, [t for t, _ in placed], dim)
    check(out, want, OpClass.EXACT, "Cat")


@pytest.mark.parametrize("count", [1, 3, 64, 65])
@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "int64"])
def test_cat_of_any_number_of_rows(vendor: Vendor, dtype: str, count: int) -> None:
    sizes = [(5, 2, i % 4, 3) for i in range(count)]
    placed = [place(vendor, numbers(s, dtype, 60 + i), dtype) for i, s in enumerate(sizes)]
    want = np.concatenate([x for _, x in placed], axis=2)
    out = out_like(vendor, want.shape, dtype)
    vendor.op.Cat(out, [t for t, _ in placed], 2)
    check(out, want, OpClass.EXACT, "Cat")


def test_cat_skips_empty_vectors_and_converts(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 3), "float32")
    parts = [
        vendor.tensor(np.zeros((0,), np.float32)),
        vendor.tensor(np.array([[1], [2]], np.int64)),
        vendor.tensor(np.array([[3, 4], [5, 6]], np.float32)),
    ]
    vendor.op.Cat(out, parts, 1)
    assert out.numpy().tolist() == [[1, 3, 4], [2, 5, 6]]
    with pytest.raises(OperatorError, match=r"\[diopiCat\]"):
        vendor.op.Cat(out, parts[1:2], 1)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_stack(vendor: Vendor, dim: int) -> None:
    arrays = [numbers((3, 4), "int32", 50 + i) for i in range(2)]
    want = np.stack(arrays, axis=dim)
    out = out_like(vendor, want.shape, "int32")
    vendor.op.Stack(out, [place(vendor, a, "int32")[0] for a in arrays], dim)
    assert np.array_equal(out.numpy(), want)


def test_cases_of_splits(vendor: Vendor) -> None:
    check_cases(vendor, "diopiSplitWithSizes")


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ([1, 1], "add up to 2, dim 0 has 3"),
        ([1, 3], "piece 1 of size 3"),
        ([3], "1 sizes were given"),
        ([-1, 4], "piece 0 of size -1"),
        ([2, 1], "output 0 does not have"),
    ],
)
def test_sizes_that_do_not_fit(vendor: Vendor, sizes: list[int], told: str) -> None:
    outs = [out_like(vendor, (1, 2), "float32") for _ in range(2)]
    with pytest.raises(OperatorError, match=told):
        vendor.op.SplitWithSizes(outs, out_like(vendor, (3, 2), "float32"), sizes, 0)
