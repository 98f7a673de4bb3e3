"""Indexing with several tensors at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import (
    FLOATS,
    LAYOUTS,
    NUMBERS,
    REALS,
    check,
    check_untouched,
    numbers,
    out_like,
    place,
)

RANDOM = np.random.default_rng(311)
MASK = RANDOM.random((4, 5)) < 0.5
CASES: dict[str, tuple[Any, ...]] = {
    "one": (np.array([3, 0, -1, 3]),),
    "matrix": (np.array([[3, 0], [1, -4]]),),
    "second": (None, np.array([4, 4, 0])),
    "last": (None, None, np.array([[-1, 2]])),
    "two": (np.array([3, 0, 1]), np.array([4, -5, 2])),
    "broadcast": (np.array([[3], [0]]), np.array([4, 1, 2])),
    "apart": (np.array([3, 0, 1]), None, np.array([5, 0, 2])),
    "all": (np.array([3, 0]), np.array([1, 2]), np.array([5, 0])),
    "mask": (MASK,),
    "mask behind": (None, RANDOM.random((5, 6)) < 0.3),
    "mask and position": (RANDOM.random(4) < 2, None, np.array([0, 1, 2, 3])),
    "nothing": (np.zeros(0, np.int64),),
    "no true": (np.zeros((4, 5), bool),),
}


def subscript(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def handles(vendor: Vendor, indices: tuple[Any, ...]) -> list[Any]:
    return [None if index is None else vendor.tensor(index) for index in indices]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", REALS)
def test_index(vendor: Vendor, dtype: str, case: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 312), dtype, layout)
    found = vendor.op.Index(a, handles(vendor, CASES[case]))
    want = x[subscript(CASES[case])]
    assert found.shape == want.shape
    check(found, want, OpClass.EXACT, "Index")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_index_put_accumulates(vendor: Vendor, dtype: str, case: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 313), dtype, layout)
    at = subscript(CASES[case])
    v, values = place(vendor, numbers(x[at].shape, dtype, 314), dtype, layout)
    want, size = x.copy(), np.abs(x)
    np.add.at(want, at, values)
    np.add.at(size, at, np.abs(values))
    vendor.op.IndexPutInp(a, v, handles(vendor, CASES[case]), True)
    terms = {"reduction_length": 4, "magnitude": size} if dtype in FLOATS else {}
    check(a, want, OpClass.REDUCTION if dtype in FLOATS else OpClass.EXACT, "IndexPutInp", **terms)


@pytest.mark.parametrize("case", [name for name in CASES if name not in ("one", "second")])
@pytest.mark.parametrize("dtype", REALS)
def test_index_put_replaces_and_broadcasts(vendor: Vendor, dtype: str, case: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 315), dtype)
    v, value = place(vendor, numbers((1,), dtype, 316), dtype)
    want = x.copy()
    want[subscript(CASES[case])] = value
    out = out_like(vendor, x.shape, dtype)
    vendor.op.IndexPut(out, a, v, handles(vendor, CASES[case]), False)
    check(out, want, OpClass.EXACT, "IndexPut")
    vendor.op.IndexPutInp(a, v, handles(vendor, CASES[case]), False)
    check(a, want, OpClass.EXACT, "IndexPutInp")


@pytest.mark.parametrize("bad", [5, -6])
def test_place_out_of_range_is_named_and_nothing_written(vendor: Vendor, bad: int) -> None:
    a, x = place(vendor, numbers((4, 5), "float32", 317), "float32")
    indices = [vendor.tensor(np.array([0, 1])), vendor.tensor(np.array([0, bad]))]
    message = rf"index {bad} is out of bounds for dimension 1 with size 5"
    with pytest.raises(OperatorError, match=rf"\[diopiIndex\] {message}"):
        vendor.op.Index(a, indices)
    with pytest.raises(OperatorError, match=rf"\[diopiIndexPutInp\] {message}"):
        vendor.op.IndexPutInp(a, vendor.tensor(np.ones(2, np.float32)), indices, False)
    check_untouched(vendor, a, x, "IndexPutInp")


def test_largest_of_many_places_out_of_range_is_named(vendor: Vendor) -> None:
    a, index = vendor.tensor(np.zeros(4, np.float32)), np.zeros(40000, np.int64)
    index[[100, 20000, 39999]] = -7, 9, 5
    with pytest.raises(OperatorError, match="index 9 is out of bounds for dimension 0 with size 4"):
        vendor.op.Index(a, [vendor.tensor(index)])
    index[[20000, 39999]] = 0
    with pytest.raises(OperatorError, match="index -7 is out of bounds"):
        vendor.op.Index(a, [vendor.tensor(index)])


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_index_of_other_dtypes(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((3, 4), "float32", 318), "float32")
    index = np.array([2, 0, 1], dtype)
    at = index.astype(bool) if dtype == "uint8" else index
    check(vendor.op.Index(a, [vendor.tensor(index)]), x[at], OpClass.EXACT, "Index")


def test_shapes_that_do_not_fit_are_named(vendor: Vendor) -> None:
    a = vendor.tensor(np.zeros((4, 5), np.float32))
    with pytest.raises(OperatorError, match="2 and 3 elements in dim 0 do not broadcast"):
        vendor.op.Index(a, [vendor.tensor(np.zeros(2, int)), vendor.tensor(np.zeros(3, int))])
    with pytest.raises(OperatorError, match="the mask has 3 elements in dim 0"):
        vendor.op.Index(a, [vendor.tensor(np.ones(3, bool))])
    with pytest.raises(OperatorError, match="too many indices"):
        vendor.op.Index(a, [vendor.tensor(np.zeros(2, int))] * 3)
