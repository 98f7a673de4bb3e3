"""Sorting, the first k in order, and distinct values."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, NUMBERS, REALS, Array, check, numbers, out_like, place


def order_of(x: Array, axis: int, descending: bool) -> Array:
    """What a stable sort gives; NaN is the largest, and -0 equals 0."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Ranks of distinct values, negated: equal elements stay in their order.
    _, rank = np.unique(x, return_inverse=True, equal_nan=True)
    return np.argsort(-rank.reshape(x.shape), axis=axis, kind="stable")


def few_values(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Many ties, NaN and both zeros among floats."""
    source = np.round(numbers(shape, dtype, seed, -9, 9))
    if dtype in FLOATS and source.size:
        flat = source.reshape(-1)
        flat[::7] = np.nan
        flat[1::5] = -0.0
    return source


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(40,), (5, 700), (3, 30, 4), (2, 0), ()], ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_sort(
    vendor: Vendor, dtype: str, shape: tuple[int, ...], descending: bool, layout: str
) -> None:
    a, x = place(vendor, few_values(shape, dtype, 91), dtype, layout)
    for dim in range(-len(shape), len(shape)) if shape else (0, -1):
        want = order_of(x, dim, descending) if shape else np.zeros((), np.int64)
        values, where = out_like(vendor, shape, dtype, layout), out_like(vendor, shape, "int64")
        vendor.op.Sort(values, where, a, dim, descending, True)
        assert np.array_equal(where.numpy(), want)
        check(values, np.take_along_axis(x, want, dim) if shape else x, OpClass.EXACT, "Sort")
        positions = out_like(vendor, shape, "int64", layout)
        vendor.op.Argsort(positions, a, True, dim, descending)
        assert np.array_equal(positions.numpy(), want)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sort_of_many_distinct_elements(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((3000,), dtype, 92, -120, 120), dtype)
    values, where = out_like(vendor, x.shape, dtype), out_like(vendor, x.shape, "int64")
    vendor.op.Sort(values, where, a, 0, False, None)
    check(values, np.sort(x), OpClass.EXACT, "Sort")
    assert np.array_equal(where.numpy(), np.argsort(x, kind="stable"))


def test_sort_of_the_ends_of_the_range(vendor: Vendor) -> None:
    ends = np.array([2**63 - 1, 0, -(2**63), -1, 1], np.int64)
    values, where = out_like(vendor, (5,), "int64"), out_like(vendor, (5,), "int64")
    vendor.op.Sort(values, where, vendor.tensor(ends), 0, True, None)
    assert values.numpy().tolist() == sorted(ends.tolist(), reverse=True)
    edges = np.array([np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38], np.float32)
    values, where = out_like(vendor, (6,), "float32"), out_like(vendor, (6,), "int64")
    vendor.op.Sort(values, where, vendor.tensor(edges), 0, False, None)
    assert where.numpy().tolist() == [1, 4, 3, 5, 0, 2]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [0, 1, 3, 40, 399, 400])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_topk(vendor: Vendor, dtype: str, k: int, largest: bool, layout: str) -> None:
    a, x = place(vendor, few_values((3, 400), dtype, 93), dtype, layout)
    order = order_of(x, 1, largest)[:, :k]
    for is_sorted in (True, False):
        values, where = out_like(vendor, (3, k), dtype), out_like(vendor, (3, k), "int64")
        vendor.op.Topk(values, where, a, k, 1, largest, is_sorted)
        found = where.numpy()
        if not is_sorted:
            found = np.sort(found, axis=1)
            order = np.sort(order, axis=1)
        # Of equal elements at the edge, the first ones are taken.
        assert np.array_equal(found, order)
        if is_sorted:
            check(values, np.take_along_axis(x, order, 1), OpClass.EXACT, "Topk")


def test_topk_along_the_first_dimension(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((90, 6), "float32", 94), "float32")
    values, where = out_like(vendor, (5, 6), "float32"), out_like(vendor, (5, 6), "int64")
    vendor.op.Topk(values, where, a, 5, 0, True, True)
    assert np.array_equal(where.numpy(), np.argsort(-x, axis=0, kind="stable")[:5])


@pytest.mark.parametrize("k", [1, 50, 700])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_topk_of_long_rows(vendor: Vendor, dtype: str, k: int) -> None:
    a, x = place(vendor, few_values((2, 3001), dtype, 97), dtype)
    values, where = out_like(vendor, (2, k), dtype), out_like(vendor, (2, k), "int64")
    vendor.op.Topk(values, where, a, k, 1, True, True)
    # Of equal elements at the edge, the first ones are taken, in any order.
    want = order_of(x, 1, True)[:, :k]
    assert np.array_equal(np.sort(where.numpy()), np.sort(want))
    check(values, np.take_along_axis(x, want, 1), OpClass.EXACT, "Topk")
    assert np.array_equal(
        np.take_along_axis(x, where.numpy(), 1), np.take_along_axis(x, want, 1), equal_nan=True
    )


def test_topk_names_a_k_that_is_too_large(vendor: Vendor) -> None:
    values, where = out_like(vendor, (4,), "float32"), out_like(vendor, (4,), "int64")
    with pytest.raises(OperatorError, match=r"\[diopiTopk\].*k is 4"):
        vendor.op.Topk(values, where, out_like(vendor, (3,), "float32"), 4, 0, True, True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7, 90), (1,), (0,), ()], ids=str)
@pytest.mark.parametrize("dtype", REALS)
def test_unique(vendor: Vendor, dtype: str, shape: tuple[int, ...], layout: str) -> None:
    a, x = place(vendor, np.round(numbers(shape, dtype, 95, 0, 20)), dtype, layout)
    inverse = out_like(vendor, shape, "int64")
    values, counts = vendor.op.Unique(a, None, True, True, inverse)
    want, want_inverse, want_counts = np.unique(x, return_inverse=True, return_counts=True)
    check(values, want, OpClass.EXACT, "Unique")
    assert np.array_equal(inverse.numpy(), want_inverse.reshape(shape))
    assert np.array_equal(counts.numpy(), want_counts)


def test_unique_of_many_elements(vendor: Vendor) -> None:
    source = np.random.default_rng(98).integers(-3000, 3000, 9000).astype(np.int32)
    inverse = out_like(vendor, source.shape, "int64")
    values, counts = vendor.op.Unique(vendor.tensor(source), None, True, True, inverse)
    want, want_inverse, want_counts = np.unique(source, return_inverse=True, return_counts=True)
    assert np.array_equal(values.numpy(), want)
    assert np.array_equal(inverse.numpy(), want_inverse)
    assert np.array_equal(counts.numpy(), want_counts)


def test_unique_of_many_slices(vendor: Vendor) -> None:
    source = np.random.default_rng(99).integers(0, 5, (700, 3)).astype(np.float32)
    inverse = out_like(vendor, (700,), "int64")
    values, counts = vendor.op.Unique(vendor.tensor(source), 0, True, True, inverse)
    want, want_inverse, want_counts = np.unique(
        source, return_inverse=True, return_counts=True, axis=0
    )
    assert np.array_equal(values.numpy(), want)
    assert np.array_equal(inverse.numpy(), want_inverse.reshape(-1))
    assert np.array_equal(counts.numpy(), want_counts)


def test_every_nan_is_distinct(vendor: Vendor) -> None:
    source = np.array([np.nan, 1, np.nan, -0.0, 0.0], np.float32)
    values, counts = vendor.op.Unique(vendor.tensor(source), None, True, True, None)
    assert counts.numpy().tolist() == [2, 1, 1, 1]
    assert np.isnan(values.numpy()[2:]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_unique_slices(vendor: Vendor, dtype: str, dim: int, layout: str) -> None:
    source = np.round(numbers((6, 5, 4), dtype, 96, 0, 1))
    source = np.concatenate([source, np.flip(source, dim)], dim)
    a, x = place(vendor, source, dtype, layout)
    inverse = out_like(vendor, (x.shape[dim],), "int64")
    values, counts = vendor.op.Unique(a, dim, True, True, inverse)
    slices = np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1).tolist()
    want = sorted({tuple(each) for each in slices})
    got = np.moveaxis(np.take(x, [slices.index(list(each)) for each in want], dim), 0, 0)
    check(values, got, OpClass.EXACT, "Unique")
    assert inverse.numpy().tolist() == [want.index(tuple(each)) for each in slices]
    assert counts.numpy().tolist() == [slices.count(list(each)) for each in want]
