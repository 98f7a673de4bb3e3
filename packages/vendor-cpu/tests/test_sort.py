"""Tests of sorting and top-k."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import FLOATS, LAYOUTS, NUMBERS, REALS, Array, check, numbers, out_like, place


def order_of(x: Array, axis: int, descending: bool) -> Array:
    """Return the order of a stable sort; NaN is the largest, and -0 equals 0."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Negated ranks of distinct values: equal elements keep their order.
    _, rank = np.unique(x, return_inverse=True, equal_nan=True)
    return np.argsort(-rank.reshape(x.shape), axis=axis, kind="stable")


def few_values(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return elements with many ties, including NaN and both zeros for floats."""
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
        # At the boundary, the first of equal elements are selected.
        assert np.array_equal(found, order)
        if is_sorted:
            check(values, np.take_along_axis(x, order, 1), OpClass.EXACT, "Topk")


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [1, 16, 17])
@pytest.mark.parametrize("n", [17, 63, 64, 65, 200])
def test_topk_of_equal_elements_and_nan(vendor: Vendor, n: int, k: int, largest: bool) -> None:
    x = np.random.default_rng(95).choice(
        np.array([1.0, 2.0, -0.0, 0.0, np.nan, np.inf, -np.inf], np.float32), (4, n)
    )
    values, where = out_like(vendor, (4, k), "float32"), out_like(vendor, (4, k), "int64")
    vendor.op.Topk(values, where, vendor.tensor(x), k, 1, largest, True)
    order = order_of(x, 1, largest)[:, :k]
    assert np.array_equal(where.numpy(), order)
    assert np.array_equal(values.numpy(), np.take_along_axis(x, order, 1), equal_nan=True)


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
    # At the boundary, the first of equal elements are selected, in any order.
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


def test_cases_of_gradients(vendor: Vendor) -> None:
    check_cases(vendor, "diopiSortBackward")


def test_gradients_that_do_not_fit(vendor: Vendor) -> None:
    out, grad = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2, 2), "float32")
    places = vendor.tensor(np.array([[0, 3], [0, 1]]))
    with pytest.raises(OperatorError, match=r"index 3 at position 1 is out of range \[0, 3\)"):
        vendor.op.SortBackward(out, grad, 1, places, (2, 3), True)
    with pytest.raises(OperatorError, match=r"must have the shape sizes"):
        vendor.op.SortBackward(out, grad, 1, places, (2, 3), False)
    with pytest.raises(OperatorError, match=r"does not have the shape sizes"):
        vendor.op.SortBackward(out, grad, 1, places, (3, 2), True)
