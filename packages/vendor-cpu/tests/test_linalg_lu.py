"""Tests of LU factors and the permutation of their pivots."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import Array, numbers, out_like

ROUNDOFF = {"float32": 2.0**-24, "complex64": 2.0**-24, "float64": 2.0**-53, "complex128": 2.0**-53}


@pytest.mark.parametrize("name", ["dlopLinalgLu", "dlopPivotsToPermutation"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, name)


def matrix(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    return np.asarray(numbers(shape, dtype, seed, -1, 1)).astype(dtype)


def empty(vendor: Vendor, shape: tuple[int, ...], dtype: str) -> Tensor:
    return out_like(vendor, shape, dtype)


def factored(vendor: Vendor, given: Array, check: bool = False) -> tuple[Array, Array, Array]:
    batch, count = given.shape[:-2], min(given.shape[-2:])
    outputs = (
        empty(vendor, given.shape, str(given.dtype)),
        empty(vendor, (*batch, count), "int32"),
        empty(vendor, batch, "int32"),
    )
    vendor.op.dlopLinalgLu(*outputs, vendor.tensor(given), check)
    factors, pivots, info = (np.asarray(x.numpy()) for x in outputs)
    return factors, pivots, info


def order_of(vendor: Vendor, pivots: Array, rows: int) -> Array:
    out = empty(vendor, (*pivots.shape[:-1], rows), "int64")
    vendor.op.dlopPivotsToPermutation(out, vendor.tensor(pivots))
    return np.asarray(out.numpy())


@pytest.mark.parametrize("dtype", ROUNDOFF)
@pytest.mark.parametrize(
    "shape", [(1, 1), (31, 31), (33, 33), (64, 64), (100, 70), (70, 100), (200, 200)], ids=str
)
def test_factors_multiply_to_the_rows_in_their_order(
    vendor: Vendor, dtype: str, shape: tuple[int, int]
) -> None:
    """Higham, theorem 9.3: ``|P A - L U| <= gamma(n) |L| |U|``; no multiplier is above 1."""
    rows, count = shape[0], min(shape)
    given = matrix((2, *shape), dtype, rows)
    factors, pivots, info = factored(vendor, given, check=True)
    assert not info.any()
    wide = factors.astype(np.complex128)
    lower = np.tril(wide[..., :count], -1) + np.eye(rows, count)
    upper = np.triu(wide[:, :count])
    ordered = np.take_along_axis(given, order_of(vendor, pivots, rows)[..., None], 1)
    allowed = 4 * (count + 1) * ROUNDOFF[dtype] * (np.abs(lower) @ np.abs(upper))
    assert np.all(np.abs(lower @ upper - ordered) <= allowed)
    # Pivots are compared by |re| + |im|, so a complex pivot may have a smaller modulus than the
    # rest.
    assert np.abs(lower).max() <= (np.sqrt(2) if given.dtype.kind == "c" else 1) * (1 + 1e-6)
    if rows > 2:
        assert (pivots != np.arange(1, count + 1)).any()


def test_the_first_of_equal_candidates_is_the_pivot(vendor: Vendor) -> None:
    factors, pivots, _ = factored(vendor, np.array([[1, 1], [-2, 1], [2, 4]], np.float32))
    assert pivots.tolist() == [2, 3]
    assert factors.tolist() == [[-2, 1], [-1, 5], [-0.5, np.float32(1.5) / np.float32(5)]]
    # |re| + |im|: 3 + 4i exceeds 6, although its modulus is smaller.
    factors, pivots, _ = factored(vendor, np.array([[6, 0], [3 + 4j, 1]], np.complex64))
    assert pivots.tolist() == [2, 2]


def test_a_singular_matrix(vendor: Vendor) -> None:
    given = np.stack([np.eye(40, dtype=np.float32)] * 3)
    given[1, 37, 37] = 0
    given[2] = 0
    factors, pivots, info = factored(vendor, given)
    assert info.tolist() == [0, 38, 1]
    assert np.array_equal(factors, given)
    assert np.array_equal(pivots, [np.arange(1, 41)] * 3)
    with pytest.raises(OperatorError, match="matrix 1 is singular: its pivot 38 is 0"):
        factored(vendor, given, check=True)


def test_numbers_that_are_none_reach_no_other_matrix(vendor: Vendor) -> None:
    given = matrix((2, 50, 50), "float32", 3)
    alone, _, _ = factored(vendor, given[1])
    given[0, 3, 5] = np.nan
    factors, pivots, _ = factored(vendor, given)
    assert np.array_equal(factors[1], alone)
    assert np.isnan(factors[0]).any()
    assert ((pivots >= 1) & (pivots <= 50)).all()


def test_exchanges_in_their_order(vendor: Vendor) -> None:
    order = order_of(vendor, np.array([[3, 3, 3], [1, 2, 4]], np.int32), 4)
    assert order.tolist() == [[2, 0, 1, 3], [0, 1, 3, 2]]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    def tensor(*shape: int, dtype: str = "float32") -> Tensor:
        return empty(vendor, shape, dtype)

    def ints(*shape: int) -> Tensor:
        return empty(vendor, shape, "int32")

    op = vendor.op
    with pytest.raises(OperatorError, match="mat has 1 dimensions; matrices need two"):
        op.dlopLinalgLu(tensor(3), ints(3), ints(), tensor(3), False)
    with pytest.raises(OperatorError, match="lu does not have the shape of mat"):
        op.dlopLinalgLu(tensor(3, 2), ints(2), ints(), tensor(2, 3), False)
    with pytest.raises(OperatorError, match="pivots needs 2 numbers for each matrix"):
        op.dlopLinalgLu(tensor(3, 2), ints(3), ints(), tensor(3, 2), False)
    with pytest.raises(OperatorError, match="info needs the leading dimensions of mat"):
        op.dlopLinalgLu(tensor(4, 3, 2), ints(4, 2), ints(), tensor(4, 3, 2), False)
    with pytest.raises(OperatorError, match=r"(?i)dtype"):
        op.dlopLinalgLu(tensor(2, 2), tensor(2), ints(), tensor(2, 2), False)

    def order(out: tuple[int, ...], pivots: Array) -> None:
        op.dlopPivotsToPermutation(empty(vendor, out, "int64"), vendor.tensor(pivots))

    with pytest.raises(OperatorError, match="same leading dimensions"):
        order((3, 4), np.ones((2, 4), np.int32))
    with pytest.raises(OperatorError, match="same leading dimensions"):
        order((), np.array(1, np.int32))
    with pytest.raises(OperatorError, match="4 pivots for 3 rows"):
        order((3,), np.ones(4, np.int32))
    for wrong in (0, 4, -1, 2**31 - 1, -(2**31)):
        with pytest.raises(OperatorError, match=f"pivot {wrong} at 1 is not the number of a row"):
            order((3,), np.array([1, wrong], np.int32))
