"""Tests of sums, means, products and extrema."""

from __future__ import annotations

import numpy as np
import pytest

from converted_sums import CONVERSIONS, check_converted_sums
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import (
    DIMS,
    FLOATS,
    INTS,
    LAYOUTS,
    NUMBERS,
    REALS,
    Array,
    axes,
    check,
    numbers,
    out_like,
    place,
)


def length(x: Array, dims: tuple[int, ...] | None) -> int:
    return int(np.prod([x.shape[d] for d in axes(dims)]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_sum_and_mean(
    vendor: Vendor, dtype: str, dims: tuple[int, ...] | None, keepdim: bool, layout: str
) -> None:
    a, x = place(vendor, numbers((5, 17, 40), dtype, 71, 0, 1), dtype, layout)
    want = np.sum(x, axis=axes(dims), keepdims=keepdim)
    count = length(x, dims)
    magnitude = np.sum(np.abs(x), axis=axes(dims), keepdims=keepdim)
    for name, scale in (("Sum", 1), ("Mean", count)):
        out = out_like(vendor, want.shape, dtype)
        vendor.op[f"diopi{name}"](out, a, dims)
        check(
            out,
            want / scale,
            OpClass.REDUCTION,
            name,
            reduction_length=count,
            magnitude=magnitude / scale,
        )


@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", [*INTS, "bool"])
def test_sum_of_integers_is_int64(vendor: Vendor, dtype: str, dims: tuple[int, ...] | None) -> None:
    a, x = place(vendor, numbers((5, 17, 40), dtype, 72, -100, 100), dtype)
    want = np.sum(x.astype(np.int64), axis=axes(dims))
    out = out_like(vendor, want.shape, "int64")
    vendor.op.Sum(out, a, dims)
    assert np.array_equal(out.numpy(), want)


@pytest.mark.parametrize("shape", [(300_000,), (3, 200_000), (100_000, 40), (70_000, 3)], ids=str)
@pytest.mark.parametrize("dim", [0, -1])
def test_sum_of_many_elements(vendor: Vendor, shape: tuple[int, ...], dim: int) -> None:
    a, x = place(vendor, numbers(shape, "float32", 73, 0, 1), "float32")
    want = np.sum(x, axis=dim)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Sum(out, a, (dim,))
    # Partial sums are short: the bound of a short sum must hold.
    check(out, want, OpClass.REDUCTION, "Sum", reduction_length=256, magnitude=want)


def test_sum_of_nothing_is_zero_and_its_mean_nan(vendor: Vendor) -> None:
    a = out_like(vendor, (0, 3), "float32")
    out = out_like(vendor, (3,), "float32")
    vendor.op.Sum(out, a, (0,))
    assert out.numpy().tolist() == [0.0, 0.0, 0.0]
    vendor.op.Mean(out, a, (0,))
    assert np.isnan(out.numpy()).all()


def test_sum_without_dimensions(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    vendor.op.Sum(out, vendor.tensor(np.array(3, np.float32)), None)
    assert out.numpy() == 3.0


def test_sum_of_repeated_rows(vendor: Vendor) -> None:
    out = out_like(vendor, (4,), "float32")
    vendor.op.Sum(out, vendor.tensor(np.broadcast_to(np.arange(4, dtype=np.float32), (9, 4))), (0,))
    assert out.numpy().tolist() == [0.0, 9.0, 18.0, 27.0]


@pytest.mark.parametrize(("dims", "message"), [((3,), "out of range"), ((0, 0), "twice")])
def test_bad_dims_are_named(vendor: Vendor, dims: tuple[int, ...], message: str) -> None:
    with pytest.raises(OperatorError, match=rf"\[diopiSum\].*{message}"):
        vendor.op.Sum(out_like(vendor, (), "float32"), out_like(vendor, (2, 3), "float32"), dims)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_amax(vendor: Vendor, dtype: str, dims: tuple[int, ...] | None, layout: str) -> None:
    a, x = place(vendor, numbers((5, 17, 40), dtype, 74, -100, 100), dtype, layout)
    want = np.max(x, axis=axes(dims))
    out = out_like(vendor, want.shape, dtype)
    vendor.op.Amax(out, a, dims, False)
    check(out, want, OpClass.EXACT, "Amax")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REALS)
def test_extrema_of_all_elements(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((7, 90), dtype, 75, -100, 100), dtype, layout)
    for name, reference in (("MaxAll", np.max), ("MinAll", np.min)):
        out = out_like(vendor, (), dtype)
        vendor.op[f"diopi{name}"](out, a)
        check(out, reference(x), OpClass.EXACT, name)


@pytest.mark.parametrize("at", [0, 5, 63, 64, 200])
def test_extrema_find_nan_anywhere(vendor: Vendor, at: int) -> None:
    source = np.ones(201, np.float32)
    source[at] = np.nan
    out = out_like(vendor, (), "float32")
    for name in ("MaxAll", "MinAll"):
        vendor.op[f"diopi{name}"](out, vendor.tensor(source))
        assert np.isnan(out.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8", "int64"])
@pytest.mark.parametrize("n", [1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 129, 255])
def test_extrema_of_rows_of_every_length(vendor: Vendor, dtype: str, n: int) -> None:
    a, x = place(vendor, numbers((n, n), dtype, 110 + n, -100, 100), dtype)
    out = out_like(vendor, (n,), dtype)
    vendor.op.Amax(out, a, [1], False)
    check(out, x.max(1), OpClass.EXACT, "Amax")
    row, y = place(vendor, x[0], dtype)
    for name, want in (("MaxAll", y.max()), ("MinAll", y.min())):
        one = out_like(vendor, (), dtype)
        vendor.op[f"diopi{name}"](one, row)
        check(one, want, OpClass.EXACT, name)
    if dtype in FLOATS:
        # Row i has its only NaN at position i.
        b, _ = place(vendor, np.where(np.eye(n, dtype=bool), np.nan, x), dtype)
        vendor.op.Amax(out, b, [1], False)
        check(out, np.full(n, np.nan), OpClass.EXACT, "Amax")


def test_nothing_has_no_extremum(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"\[diopiMaxAll\]"):
        vendor.op.MaxAll(out_like(vendor, (), "float32"), out_like(vendor, (0,), "float32"))


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_prod(vendor: Vendor, dtype: str, dim: int | None) -> None:
    source = numbers((3, 9), dtype, 76, 1, 2)
    a, x = place(vendor, source, dtype)
    want = np.prod(x if dtype in FLOATS else x.astype(np.int64), axis=dim)
    out = out_like(vendor, want.shape, dtype if dtype in FLOATS else "int64")
    vendor.op.Prod(out, a, dim)
    check(out, want, OpClass.REDUCTION, "Prod", reduction_length=32, magnitude=np.abs(want))


@CONVERSIONS
def test_sums_in_another_dtype_are_those_of_a_converted_copy(
    vendor: Vendor, source: str, result: str
) -> None:
    check_converted_sums(vendor, "Sum", (1,), np.sum, (source, result))


@pytest.mark.cpu_path
@pytest.mark.parametrize(
    ("shape", "dim"), [((12,), 0), ((2, 9000), 1), ((3000, 40), 0), ((50, 9), 1)]
)
def test_a_mean_whose_sum_alone_overflows(vendor: Vendor, shape: tuple[int, ...], dim: int) -> None:
    x = np.full(shape, 1e38, np.float32)
    want = np.mean(x.astype(np.float64), axis=dim)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Mean(out, vendor.tensor(x), (dim,))
    check(out, want, OpClass.REDUCTION, "Mean", reduction_length=shape[dim])
    vendor.op.Sum(out, vendor.tensor(x), (dim,))
    assert np.isposinf(out.numpy()).all()
