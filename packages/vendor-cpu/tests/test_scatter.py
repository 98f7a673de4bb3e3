"""Tests of writes to positions given by an index tensor."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import (
    FLOATS,
    LAYOUTS,
    NUMBERS,
    REALS,
    Array,
    check,
    check_untouched,
    numbers,
    out_like,
    place,
)

REDUCE = {"add": np.add, "multiply": np.multiply, "amax": np.maximum, "amin": np.minimum}


def scattered(x: Array, dim: int, index: Array, source: Array, reduce: str) -> Array:
    """Element by element, in the order of the index."""
    want: Array = x.copy()
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        place_ = tuple(to)
        want[place_] = REDUCE[reduce](want[place_], source[at]) if reduce else source[at]
    return want


def factors(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return numbers whose products do not become 0: odd integers, and floats around 1 and -1."""
    if dtype not in FLOATS:
        return 2 * numbers(shape, dtype, seed) + 1
    signs = np.random.default_rng(seed + 1).choice([-1, 1], shape)
    return np.asarray(signs * numbers(shape, dtype, seed, 0.7, 1.3))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_scatter_replaces(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 301), dtype, layout)
    b, source = place(vendor, numbers((3, 4, 4), dtype, 302), dtype, layout)
    # No position twice: it is unspecified which write wins.
    index = np.argsort(np.random.default_rng(303).random((3, 4, 4)), axis=dim)
    i = place(vendor, index, "int64", layout)[0]
    want = scattered(x, dim, index, source, "")
    out = out_like(vendor, (4, 5, 6), dtype, layout)
    vendor.op.Scatter(out, a, dim, b, i, "")
    check(out, want, OpClass.EXACT, "Scatter")
    vendor.op.ScatterInp(a, dim, b, i, "")
    check(a, want, OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 2])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_scatter_reduces(vendor: Vendor, dtype: str, dim: int, layout: str, reduce: str) -> None:
    a, x = place(vendor, numbers((4, 5, 6), dtype, 304), dtype, layout)
    shape = (8, 5, 6) if dim == 0 else (4, 5, 9)
    b, source = place(vendor, numbers((8, 5, 9), dtype, 305), dtype, layout)
    index = np.random.default_rng(306).integers(0, 4, shape)
    i = place(vendor, index, "int64", layout)[0]
    want = scattered(x, dim, index, source, reduce)
    size = scattered(np.abs(x), dim, index, np.abs(source), reduce)
    vendor.op.ScatterInp(a, dim, b, i, reduce)
    if dtype in FLOATS and reduce in ("add", "multiply"):
        check(a, want, OpClass.REDUCTION, "ScatterInp", reduction_length=9, magnitude=size)
    else:
        check(a, want, OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", REALS)
def test_long_scatter_replaces(vendor: Vendor, dtype: str, dim: int) -> None:
    shape = (90, 3) if dim == 0 else (3, 90)
    a, x = place(vendor, numbers(shape, dtype, 320), dtype)
    b, source = place(vendor, numbers(shape, dtype, 321), dtype)
    index = np.argsort(np.random.default_rng(322).random(shape), axis=dim)
    vendor.op.ScatterInp(a, dim, b, vendor.tensor(index), "")
    check(a, scattered(x, dim, index, source, ""), OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_many_elements_meet_at_few_places(
    vendor: Vendor, dtype: str, dim: int, reduce: str
) -> None:
    shape, long = ((3, 5), (90, 5)) if dim == 0 else ((5, 3), (5, 90))
    a, x = place(vendor, factors(shape, dtype, 323), dtype)
    b, source = place(vendor, factors(long, dtype, 324), dtype)
    index = np.random.default_rng(325).integers(0, 3, long)
    want = scattered(x, dim, index, source, reduce)
    size = scattered(np.abs(x), dim, index, np.abs(source), reduce)
    vendor.op.ScatterInp(a, dim, b, vendor.tensor(index), reduce)
    if dtype in FLOATS and reduce in ("add", "multiply"):
        check(a, want, OpClass.REDUCTION, "ScatterInp", reduction_length=90, magnitude=size)
    else:
        check(a, want, OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("reduce", REDUCE)
def test_many_bools_meet_at_few_places(vendor: Vendor, reduce: str) -> None:
    a, x = place(vendor, numbers((7,), "bool", 326), "bool")
    b, source = place(vendor, np.random.default_rng(327).random(60) < 0.1, "bool")
    index = np.random.default_rng(328).integers(0, 7, 60)
    vendor.op.ScatterInp(a, 0, b, vendor.tensor(index), reduce)
    check(a, scattered(x, 0, index, source, reduce), OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16"])
def test_nan_and_infinity_scatter(vendor: Vendor, dtype: str, reduce: str) -> None:
    special = [np.nan, 1, -np.inf, np.inf, 0, 2] if dtype in FLOATS else [7, 1, -9, 9, 0, 2]
    a, x = place(vendor, np.ones(4), dtype)
    b, source = place(vendor, np.tile(special, 10), dtype)
    index = np.tile([0, 1, 1, 2, 2, 3], 10)
    vendor.op.ScatterInp(a, 0, b, vendor.tensor(index), reduce)
    with np.errstate(invalid="ignore"):
        want = scattered(x, 0, index, source, reduce)
    check(a, want, OpClass.EXACT, "ScatterInp")


@pytest.mark.parametrize("dtype", REALS)
def test_scatter_of_a_number(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((3, 4), dtype, 307), dtype)
    index = np.array([[0, 2, 1, 1]])
    want = scattered(x, 0, index, np.full((1, 4), 1, x.dtype), "")
    vendor.op.ScatterInpScalar(a, 0, 1, vendor.tensor(index), "")
    check(a, want, OpClass.EXACT, "ScatterInpScalar")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_scatter_adds_a_number_many_times(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((3,), dtype, 329), dtype)
    index = np.random.default_rng(330).integers(0, 3, 60)
    out = out_like(vendor, (3,), dtype)
    vendor.op.ScatterScalar(out, a, 0, 2, vendor.tensor(index), "add")
    want = x + (2 * np.bincount(index, minlength=3)).astype(x.dtype)
    terms = {"reduction_length": 60, "magnitude": np.abs(want)} if dtype in FLOATS else {}
    op_class = OpClass.REDUCTION if dtype in FLOATS else OpClass.EXACT
    check(out, want, op_class, "ScatterScalar", **terms)
    check(a, x, OpClass.EXACT, "ScatterScalar")


def test_scatter_without_dimensions(vendor: Vendor) -> None:
    a = vendor.tensor(np.array(4, np.float32))
    source, index = vendor.tensor(np.array(3, np.float32)), vendor.tensor(np.array(0))
    vendor.op.ScatterInp(a, 0, source, index, "add")
    assert a.numpy() == 7.0


@pytest.mark.parametrize("bad", [3, -1])
def test_scatter_out_of_range_writes_nothing(vendor: Vendor, bad: int) -> None:
    a, x = place(vendor, numbers((3, 4), "float32", 308), "float32")
    index = np.zeros((2, 4), np.int64)
    index[1, 3] = bad
    message = rf"\[diopiScatterInp\] index {bad} at position 7 is out of range \[0, 3\)"
    with pytest.raises(OperatorError, match=message):
        vendor.op.ScatterInp(a, 0, a, vendor.tensor(index), "add")
    check_untouched(vendor, a, x, "ScatterInp")


def test_first_of_many_bad_indexes_is_named(vendor: Vendor) -> None:
    a, source = out_like(vendor, (3,), "float32"), out_like(vendor, (40000,), "float32")
    index = np.zeros(40000, np.int64)
    index[[20001, 20005, 39000]] = 4, 5, 6
    with pytest.raises(OperatorError, match=r"index 4 at position 20001 is out of range \[0, 3\)"):
        vendor.op.ScatterInp(a, 0, source, vendor.tensor(index), "")


def test_scatter_names_what_does_not_fit(vendor: Vendor) -> None:
    a, index = out_like(vendor, (3, 4), "float32"), vendor.tensor(np.zeros((3, 5), np.int64))
    with pytest.raises(OperatorError, match="5 elements in dim 1, more than the source's 4"):
        vendor.op.ScatterInp(a, 0, a, index, "")


def test_cases_of_one_hot(vendor: Vendor) -> None:
    check_cases(vendor, "diopiOneHot")


def test_classes_out_of_range(vendor: Vendor) -> None:
    out = out_like(vendor, (2, 3), "int64")
    with pytest.raises(OperatorError, match=r"\[diopiOneHot\] index 3 at position 1 .* \[0, 3\)"):
        vendor.op.OneHot(out, vendor.tensor(np.array([0, 3])), 3)
    with pytest.raises(OperatorError, match=r"\[diopiOneHot\].* 4 classes"):
        vendor.op.OneHot(out, vendor.tensor(np.array([0, 2])), 4)
