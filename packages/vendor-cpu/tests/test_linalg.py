"""Factorizations and solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import Array, numbers, out_like

OPERATORS = (
    *("Cholesky", "CholeskyBackward", "TriangularSolve", "TriangularSolveBackward"),
    "LinalgQR",
)
ROUNDOFF = {"float32": 2.0**-24, "complex64": 2.0**-24, "float64": 2.0**-53, "complex128": 2.0**-53}


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def matrix(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    return np.asarray(numbers(shape, dtype, seed, -1, 1)).astype(dtype)


def adjoint(array: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(array, -1, -2)))


def empty(vendor: Vendor, shape: tuple[int, ...], dtype: str) -> Tensor:
    return out_like(vendor, shape, dtype)


@pytest.mark.parametrize("dtype", ROUNDOFF)
@pytest.mark.parametrize("n", [31, 32, 33, 64, 65, 300])
def test_factors_of_blocks_multiply_to_the_matrix(vendor: Vendor, dtype: str, n: int) -> None:
    """Higham, theorem 10.3: ``|A - L Lᴴ| <= gamma(n + 1) |L| |Lᴴ|``."""
    given = matrix((n, n), dtype, 1) + 2 * n * np.eye(n, dtype=dtype)
    for upper in (False, True):
        out, info = empty(vendor, (n, n), dtype), empty(vendor, (), "int32")
        vendor.op.Cholesky(out, info, vendor.tensor(given), upper, True)
        factor = out.numpy().astype(np.complex128)
        other = np.tril(factor, -1) if upper else np.triu(factor, 1)
        assert not other.any()
        assert info.numpy() == 0
        lower = adjoint(factor) if upper else factor
        triangle = np.triu(given) if upper else np.tril(given)
        beside = triangle - np.diag(triangle.diagonal())
        want = beside + adjoint(beside) + np.diag(triangle.diagonal().real)
        error = np.abs(lower @ adjoint(lower) - want)
        allowed = 4 * (n + 1) * ROUNDOFF[dtype] * (np.abs(lower) @ np.abs(adjoint(lower)))
        assert np.all(error <= allowed)


def test_a_matrix_without_a_factor(vendor: Vendor) -> None:
    n = 70
    given = np.stack([np.eye(n, dtype=np.float32)] * 4)
    given[1, 40, 40] = -1
    given[2, 0, 0] = np.nan
    given[3, 69, 69] = 0
    out, info = empty(vendor, (4, n, n), "float32"), empty(vendor, (4,), "int32")
    vendor.op.Cholesky(out, info, vendor.tensor(given), False, False)
    assert info.numpy().tolist() == [0, 41, 1, 70]
    assert np.array_equal(out.numpy()[0], np.eye(n))
    with pytest.raises(
        OperatorError, match="matrix 1 has no factor: its leading minor of order 41"
    ):
        vendor.op.Cholesky(out, info, vendor.tensor(given), False, True)
    fresh = empty(vendor, (4, n, n), "float32"), empty(vendor, (4,), "int32")
    with pytest.raises(OperatorError, match="matrix 1 has no factor"):
        vendor.op.Cholesky(*fresh, vendor.tensor(given), False, True)


@pytest.mark.parametrize("dtype", ROUNDOFF)
@pytest.mark.parametrize(
    "shape", [(5, 3), (3, 5), (33, 20), (100, 70), (70, 100), (64, 64)], ids=str
)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_factors_of_qr(vendor: Vendor, dtype: str, shape: tuple[int, int], mode: str) -> None:
    """Higham, theorem 19.4 and section 19.3, with a roundoff for each row of each reflector."""
    rows, columns = shape
    count = rows if mode == "complete" else min(shape)
    given = matrix((2, *shape), dtype, 2)
    q, r = empty(vendor, (2, rows, count), dtype), empty(vendor, (2, count, columns), dtype)
    vendor.op.LinalgQR(vendor.tensor(given), mode, q, r)
    left, right = (x.numpy().astype(np.complex128) for x in (q, r))
    assert not np.tril(right, -1).any()
    assert np.all(right.imag.diagonal(0, 1, 2) == 0)
    unit = ROUNDOFF[dtype] * rows * min(shape)
    error = np.linalg.norm(left @ right - given, axis=1)
    assert np.all(error <= unit * np.linalg.norm(given.astype(np.complex128), axis=1))
    assert np.abs(adjoint(left) @ left - np.eye(count)).max() <= unit


def test_qr_of_zeros_and_of_extremes(vendor: Vendor) -> None:
    q, r = empty(vendor, (3, 2), "float32"), empty(vendor, (2, 2), "float32")
    vendor.op.LinalgQR(vendor.tensor(np.zeros((3, 2), np.float32)), "reduced", q, r)
    assert np.array_equal(q.numpy(), np.eye(3, 2))
    assert not r.numpy().any()
    for scale in (1e30, 1e-30):
        given = np.array([[3, 1], [4, 2], [0, 2]], np.float32) * np.float32(scale)
        vendor.op.LinalgQR(vendor.tensor(given), "reduced", q, r)
        want = np.array([[-5, -2.2], [0, np.sqrt(4.16)]])
        assert np.allclose(np.abs(r.numpy() / scale), np.abs(want), 1e-5)
        assert r.numpy()[0, 0] < 0


@pytest.mark.parametrize("columns", [1, 5, 40])
@pytest.mark.parametrize("dtype", ROUNDOFF)
def test_larger_systems(vendor: Vendor, dtype: str, columns: int) -> None:
    """Higham, section 8.1: the residual is within ``gamma(n) |T| |x|``."""
    n = 200
    given = matrix((n, n), dtype, 3) / 50 + np.eye(n, dtype=dtype)
    right = matrix((n, columns), dtype, 4)
    for upper in (False, True):
        for transpose in (False, True):
            out, copy = empty(vendor, (n, columns), dtype), empty(vendor, (n, n), dtype)
            tensors = vendor.tensor(right), vendor.tensor(given)
            vendor.op.TriangularSolve(out, copy, *tensors, upper, transpose, False)
            assert np.array_equal(copy.numpy(), given)
            system = (np.triu(given) if upper else np.tril(given)).astype(np.complex128)
            system = system.T if transpose else system
            x = out.numpy().astype(np.complex128)
            allowed = 4 * n * ROUNDOFF[dtype] * (np.abs(system) @ np.abs(x))
            assert np.all(np.abs(system @ x - right) <= allowed)


def test_a_triangle_that_is_not_used_is_not_read(vendor: Vendor) -> None:
    given = np.array([[2, np.nan], [1, 2]], np.float32)
    out, copy = empty(vendor, (2, 1), "float32"), empty(vendor, (2, 2), "float32")
    right = vendor.tensor(np.array([[2], [5]], np.float32))
    vendor.op.TriangularSolve(out, copy, right, vendor.tensor(given), False, False, False)
    assert out.numpy().tolist() == [[1], [2]]
    given = np.array([[4, np.nan], [2, 5]], np.float32)
    info = empty(vendor, (), "int32")
    vendor.op.Cholesky(copy, info, vendor.tensor(given), False, True)
    assert copy.numpy().tolist() == [[2, 0], [1, 2]]
    grad = vendor.tensor(np.array([[1, np.inf], [0, 0]], np.float32))
    factor = vendor.tensor(np.array([[2, np.nan], [1, 2]], np.float32))
    vendor.op.CholeskyBackward(copy, grad, factor, False)
    assert copy.numpy().tolist() == [[0.25, 0], [0, 0]]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    def tensor(*shape: int, dtype: str = "float32") -> Any:
        return empty(vendor, shape, dtype)

    op = vendor.op
    with pytest.raises(OperatorError, match="matrices of 2x3; they must be square"):
        op.Cholesky(tensor(2, 3), tensor(dtype="int32"), tensor(2, 3), False, False)
    with pytest.raises(OperatorError, match="mat has 1 dimensions; matrices need two"):
        op.Cholesky(tensor(3), tensor(dtype="int32"), tensor(3), False, False)
    with pytest.raises(OperatorError, match="info needs the leading dimensions of mat"):
        op.Cholesky(tensor(2, 2), tensor(1, dtype="int32"), tensor(2, 2), False, False)
    with pytest.raises(OperatorError, match="out does not have the shape of mat"):
        op.Cholesky(tensor(3, 3), tensor(dtype="int32"), tensor(2, 2), False, False)
    with pytest.raises(OperatorError, match="need the shape of L"):
        op.CholeskyBackward(tensor(2, 2), tensor(2, 2), tensor(3, 3), False)
    flags = (False, False, False)
    with pytest.raises(OperatorError, match="does not have the product's shape"):
        op.TriangularSolve(tensor(2, 2), tensor(3, 3), tensor(2, 2), tensor(3, 3), *flags)
    with pytest.raises(OperatorError, match="cloned_mat needs matrices of 2x2"):
        op.TriangularSolve(tensor(4, 2, 1), tensor(2, 2), tensor(4, 2, 1), tensor(2, 2), *flags)
    square = tensor(2, 2)
    with pytest.raises(OperatorError, match="shape of its tensor"):
        op.TriangularSolveBackward(tensor(2, 3), square, *[tensor(2, 2)] * 5, *flags)
    with pytest.raises(OperatorError, match="grad_cloned_mat needs matrices of 2x2"):
        op.TriangularSolveBackward(
            tensor(2, 2), square, tensor(2, 2), tensor(1, 2, 2), *[tensor(2, 2)] * 3, *flags
        )
    with pytest.raises(OperatorError, match="Q needs matrices of 3x3"):
        op.LinalgQR(tensor(3, 2), "complete", tensor(3, 2), tensor(3, 2))
    with pytest.raises(OperatorError, match="R needs matrices of 2x2"):
        op.LinalgQR(tensor(3, 2), "r", None, tensor(3, 2))
    with pytest.raises(OperatorError, match="Q is NULL"):
        op.LinalgQR(tensor(3, 2), "reduced", None, tensor(2, 2))
