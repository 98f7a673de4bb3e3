"""Tests of out-of-place writes to positions given by several index tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, NUMBERS, REALS, check, numbers, out_like, place

SHAPE = (4, 5, 6)
RANDOM = np.random.default_rng(441)
# No position twice: it is unspecified which write wins.
CASES: dict[str, tuple[Any, ...]] = {
    "one": (np.array([3, 0, -2]),),
    "matrix": (np.array([[3, 0], [1, -2]]),),
    "last": (None, None, np.array([[-1, 2]])),
    "pairs": (np.array([3, 0, 1]), np.array([4, -5, 2])),
    "apart": (np.array([3, 0, 1]), None, np.array([5, 0, 2])),
    "mask": (RANDOM.random((4, 5)) < 0.5,),
    "nothing": (np.zeros(0, np.int64),),
}
TWICE: dict[str, tuple[Any, ...]] = {
    **CASES,
    "twice": (np.array([3, -1, 0, 3, 3]),),
    "pairs twice": (np.array([[2], [2]]), np.array([1, 1, -4])),
}


def subscript(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def handles(vendor: Vendor, indices: tuple[Any, ...]) -> list[Any]:
    return [None if index is None else vendor.tensor(index) for index in indices]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", REALS)
def test_values_replace(vendor: Vendor, dtype: str, case: str, layout: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 442), dtype, layout)
    at = subscript(CASES[case])
    v, values = place(vendor, numbers(x[at].shape, dtype, 443), dtype, layout)
    want = x.copy()
    want[at] = values
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.IndexPut(out, a, v, handles(vendor, CASES[case]), False)
    check(out, want, OpClass.EXACT, "IndexPut")
    check(a, x, OpClass.EXACT, "IndexPut")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", TWICE)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_values_accumulate(vendor: Vendor, dtype: str, case: str, layout: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 444), dtype, layout)
    at = subscript(TWICE[case])
    v, values = place(vendor, numbers(x[at].shape, dtype, 445), dtype)
    want, size = x.copy(), np.abs(x)
    np.add.at(want, at, values)
    np.add.at(size, at, np.abs(values))
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.IndexPut(out, a, v, handles(vendor, TWICE[case]), True)
    if dtype in FLOATS:
        terms = {"reduction_length": 7, "magnitude": size}
        check(out, want, OpClass.REDUCTION, "IndexPut", **terms)
    else:
        check(out, want, OpClass.EXACT, "IndexPut")
    check(a, x, OpClass.EXACT, "IndexPut")


@pytest.mark.parametrize("shape", [(), (1,), (6,), (3, 1)], ids=str)
def test_values_broadcast(vendor: Vendor, shape: tuple[int, ...]) -> None:
    a, x = place(vendor, numbers(SHAPE, "float32", 446), "float32")
    v, values = place(vendor, numbers(shape, "float32", 447), "float32")
    want = x.copy()
    want[[3, 0, 1], [4, 0, 2]] = values
    indices = [vendor.tensor(np.array([3, 0, 1])), vendor.tensor(np.array([4, 0, 2]))]
    out = out_like(vendor, SHAPE, "float32")
    vendor.op.IndexPut(out, a, v, indices, False)
    check(out, want, OpClass.EXACT, "IndexPut")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_many_small_values_meet_in_wider_sums(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, np.zeros(3), dtype)
    v, values = place(vendor, np.full(5000, 0.25), dtype)
    out = out_like(vendor, (3,), dtype)
    vendor.op.IndexPut(out, a, v, [vendor.tensor(np.full(5000, 1))], True)
    want = x + np.array([0, 1, 0]) * values.sum()
    terms = {"reduction_length": 5000, "magnitude": np.abs(want)}
    check(out, want, OpClass.REDUCTION, "IndexPut", **terms)


@pytest.mark.parametrize("bad", [5, -6])
def test_place_out_of_range_is_named(vendor: Vendor, bad: int) -> None:
    a = out_like(vendor, (4, 5), "float32")
    indices = [vendor.tensor(np.array([0, 1])), vendor.tensor(np.array([0, bad]))]
    message = rf"\[diopiIndexPut\] index {bad} is out of bounds for dimension 1 with size 5"
    out, ones = out_like(vendor, (4, 5), "float32"), vendor.tensor(np.ones(2, np.float32))
    with pytest.raises(OperatorError, match=message):
        vendor.op.IndexPut(out, a, ones, indices, False)


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    a, out = out_like(vendor, (4, 5), "float32"), out_like(vendor, (4, 5), "float32")
    index = [vendor.tensor(np.array([0, 1]))]
    with pytest.raises(OperatorError, match="values with 3 elements in dim 0 do not broadcast"):
        vendor.op.IndexPut(out, a, vendor.tensor(np.ones((3, 5), np.float32)), index, False)
    with pytest.raises(OperatorError, match="3 dimensions, more than the 2 of the indexed result"):
        vendor.op.IndexPut(out, a, vendor.tensor(np.ones((2, 2, 5), np.float32)), index, False)
    with pytest.raises(OperatorError, match="output does not have the shape of the input"):
        vendor.op.IndexPut(out_like(vendor, (5, 4), "float32"), a, a, index, False)
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.IndexPut(out, a, vendor.tensor(np.ones(5)), index, False)
