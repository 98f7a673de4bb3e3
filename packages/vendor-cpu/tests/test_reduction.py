"""Reductions, positions of extrema and running sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass, Order
from support import FLOATS, INTS, LAYOUTS, NUMBERS, REALS, Array, check, numbers, out_like, place

DIMS: list[tuple[int, ...] | None] = [None, (0,), (1,), (-1,), (0, 2), (0, 1, 2), (1, 2)]


def axes(dims: tuple[int, ...] | None) -> tuple[int, ...]:
    return (0, 1, 2) if dims is None else dims


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
    # Partial sums are kept short: the bound of short ones must hold.
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
    where = out_like(vendor, (), "int64")
    for name in ("Argmax", "Argmin"):
        vendor.op[f"diopi{name}"](where, vendor.tensor(source), None, False)
        assert where.numpy() == at


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


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", REALS)
def test_any_and_all(vendor: Vendor, dtype: str, dim: int | None) -> None:
    source = numbers((6, 70), dtype, 77, 0, 1)
    source = np.round(source) if dtype in FLOATS else source
    source[2] = 0
    source[3] = 1
    for name, reference in (("Any", np.any), ("All", np.all)):
        a, x = place(vendor, source, dtype)
        want = reference(x, axis=dim)
        out = out_like(vendor, want.shape, "bool")
        vendor.op[f"diopi{name}"](out, a, dim)
        assert np.array_equal(out.numpy(), want)


def test_nan_is_true(vendor: Vendor) -> None:
    out = out_like(vendor, (), "bool")
    vendor.op.Any(out, vendor.tensor(np.array([0.0, np.nan], np.float32)), None)
    assert out.numpy()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_positions_of_extrema(vendor: Vendor, dtype: str, dim: int | None, layout: str) -> None:
    # Few distinct values: ties must go to the first.
    a, x = place(vendor, np.round(numbers((6, 9, 30), dtype, 78, 0, 4)), dtype, layout)
    for name, reference in (("Argmax", np.argmax), ("Argmin", np.argmin)):
        want = reference(x, axis=dim)
        out = out_like(vendor, np.shape(want), "int64")
        vendor.op[f"diopi{name}"](out, a, dim, False)
        assert np.array_equal(out.numpy(), want)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_extrema_with_positions(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((6, 9, 30), dtype, 79, -100, 100), dtype, layout)
    for name, value, position in (("Max", np.max, np.argmax), ("Min", np.min, np.argmin)):
        for keep in (False, True):
            want = value(x, axis=dim, keepdims=keep)
            out, where = out_like(vendor, want.shape, dtype), out_like(vendor, want.shape, "int64")
            vendor.op[f"diopi{name}"](out, where, a, dim)
            check(out, want, OpClass.EXACT, name)
            assert np.array_equal(where.numpy(), position(x, axis=dim, keepdims=keep))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_cumsum(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    a, x = place(vendor, numbers((6, 30), dtype, 80, 0, 3), dtype, layout)
    kind = dtype if dtype in FLOATS else "int64"
    out = out_like(vendor, (6, 30), kind, layout)
    vendor.op.Cumsum(out, a, dim)
    terms: dict[str, Any] = {}
    if dtype in FLOATS:
        steps = np.arange(1, x.shape[dim] + 1).reshape((-1, 1) if dim == 0 else (1, -1))
        terms = {
            "reduction_length": np.broadcast_to(steps, (6, 30)),
            "magnitude": np.cumsum(np.abs(x), axis=dim),
            "order": Order.ANY,
        }
    check(
        out,
        np.cumsum(x, axis=dim, dtype=x.dtype if dtype in FLOATS else np.int64),
        OpClass.REDUCTION,
        "Cumsum",
        **terms,
    )


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("float32", "float64"),
        ("bfloat16", "float64"),
        ("bfloat16", "float32"),
        ("float32", "int64"),
        ("int32", "float32"),
        ("bool", "float64"),
        ("int64", "int32"),
    ],
)
def test_sums_in_another_dtype_are_those_of_a_converted_copy(
    vendor: Vendor, source: str, result: str
) -> None:
    a, x = place(vendor, numbers((6, 50), source, 81, 0, 9), source, "sliced")
    converted = x.astype(result) if result not in ("float32", "float64") else x.astype(np.float64)
    for name, reference in (("Sum", np.sum), ("Cumsum", None)):
        if reference is None:
            want = np.cumsum(converted, axis=1, dtype=converted.dtype)
            out = out_like(vendor, want.shape, result)
            vendor.op.Cumsum(out, a, 1)
        else:
            want = reference(converted, axis=1, dtype=converted.dtype)
            out = out_like(vendor, want.shape, result)
            vendor.op[f"diopi{name}"](out, a, (1,))
        exact_result = result not in ("float32", "float64")
        terms = {} if exact_result else {"reduction_length": 50, "magnitude": np.abs(want)}
        check(out, want, OpClass.EXACT if exact_result else OpClass.REDUCTION, name, **terms)


@pytest.mark.parametrize("columns", [7, 8, 63, 64, 200])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8", "int64"])
def test_positions_of_extrema_across_rows(vendor: Vendor, dtype: str, columns: int) -> None:
    # uint8 has more rows than its own width can count.
    source = np.round(numbers((300, columns), dtype, 82, 0, 5))
    if dtype == "float32":
        source[7, 3] = source[9, 3] = np.nan
    a, x = place(vendor, source, dtype)
    for name, value, position in (("Max", np.max, np.argmax), ("Min", np.min, np.argmin)):
        out, where = out_like(vendor, (columns,), dtype), out_like(vendor, (columns,), "int64")
        vendor.op[f"diopi{name}"](out, where, a, 0)
        check(out, value(x, axis=0), OpClass.EXACT, name)
        assert np.array_equal(where.numpy(), position(x, axis=0))


@pytest.mark.parametrize("at", [3, 65_535, 65_536, 199_999])
def test_position_in_a_long_tensor(vendor: Vendor, at: int) -> None:
    source = np.zeros(200_000, np.float32)
    source[at] = source[-1] = 1
    out = out_like(vendor, (), "int64")
    vendor.op.Argmax(out, vendor.tensor(source), None, False)
    assert out.numpy() == at
