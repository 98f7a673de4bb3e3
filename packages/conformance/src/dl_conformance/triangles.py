"""Triangular matrices in any NumPy dtype; NumPy's own functions do not support longdouble.

Functions take batches of matrices in the last two dimensions.
"""

from __future__ import annotations

import numpy as np

from .inputs import Array


def adjoint(matrix: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(matrix, -1, -2)))


def triangle(matrix: Array, upper: bool, unit: bool = False) -> Array:
    """Return a triangle of a matrix, with a unit diagonal if ``unit``."""
    if not unit:
        return np.asarray(np.triu(matrix) if upper else np.tril(matrix))
    one = np.eye(matrix.shape[-1], dtype=matrix.dtype)
    return np.asarray((np.triu(matrix, 1) if upper else np.tril(matrix, -1)) + one)


def solve(matrix: Array, right: Array, upper: bool) -> Array:
    """Solve a triangular system by substitution."""
    size = matrix.shape[-1]
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    found = np.broadcast_to(right, (*batch, *right.shape[-2:])).copy()
    for i in range(size - 1, -1, -1) if upper else range(size):
        known = slice(i + 1, None) if upper else slice(0, i)
        row = matrix[..., i : i + 1, known] @ found[..., known, :]
        found[..., i, :] = (found[..., i, :] - row[..., 0, :]) / matrix[..., i, i, None]
    return np.asarray(found)


def inverse(matrix: Array, upper: bool) -> Array:
    """Return the inverse of a triangular matrix."""
    return solve(matrix, np.eye(matrix.shape[-1], dtype=matrix.dtype), upper)


def growth(matrix: Array, upper: bool) -> Array:
    """Return ``|T⁻¹| · |T|``, which bounds the error of a solution."""
    return np.asarray(np.abs(inverse(matrix, upper)) @ np.abs(matrix))


def cholesky(matrix: Array) -> tuple[Array, Array]:
    """Return the lower Cholesky factors of the lower triangles, and error codes.

    A code is the order of the first leading minor that is not positive, or 0.
    """
    factor = np.zeros_like(matrix)
    failed = np.zeros(matrix.shape[:-2], np.int32)
    for j in range(matrix.shape[-1]):
        known = factor[..., :j]
        below = matrix[..., j:, j] - (known[..., j:, :] @ adjoint(known[..., j : j + 1, :]))[..., 0]
        square = np.asarray(below[..., 0].real)
        failed = np.where((failed == 0) & ~(square > 0), j + 1, failed)
        pivot = np.sqrt(square)
        factor[..., j, j] = pivot
        factor[..., j + 1 :, j] = below[..., 1:] / pivot[..., None]
    return factor, failed
