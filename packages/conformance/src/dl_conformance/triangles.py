"""Triangular matrices, in any of numpy's dtypes: numpy's own functions know no longdouble.

Functions take batches of matrices in their last two dimensions.
"""

from __future__ import annotations

import numpy as np

from .inputs import Array


def adjoint(matrix: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(matrix, -1, -2)))


def triangle(matrix: Array, upper: bool, unit: bool = False) -> Array:
    """One triangle of it, with a diagonal of 1 if ``unit``."""
    if not unit:
        return np.asarray(np.triu(matrix) if upper else np.tril(matrix))
    one = np.eye(matrix.shape[-1], dtype=matrix.dtype)
    return np.asarray((np.triu(matrix, 1) if upper else np.tril(matrix, -1)) + one)


def solve(matrix: Array, right: Array, upper: bool) -> Array:
    """The solution of a system with a triangle, by substitution."""
    size = matrix.shape[-1]
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    found = np.broadcast_to(right, (*batch, *right.shape[-2:])).copy()
    for i in range(size - 1, -1, -1) if upper else range(size):
        known = slice(i + 1, None) if upper else slice(0, i)
        row = matrix[..., i : i + 1, known] @ found[..., known, :]
        found[..., i, :] = (found[..., i, :] - row[..., 0, :]) / matrix[..., i, i, None]
    return np.asarray(found)


def inverse(matrix: Array, upper: bool) -> Array:
    """Of a triangle."""
    return solve(matrix, np.eye(matrix.shape[-1], dtype=matrix.dtype), upper)


def growth(matrix: Array, upper: bool) -> Array:
    """``|T⁻¹| · |T|``, by which the error of a solution is bounded."""
    return np.asarray(np.abs(inverse(matrix, upper)) @ np.abs(matrix))


def cholesky(matrix: Array) -> tuple[Array, Array]:
    """The lower factors from the lower triangles, and the orders of leading minors that are not
    positive, 0 where there are none."""
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
