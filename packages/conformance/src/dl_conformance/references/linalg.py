"""Cholesky factors and triangular systems.

Bounds follow N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002:
backward errors, propagated to the results to first order. They hold for substitution and
factorization in any order, blocked algorithms included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, Unspecified, reference
from dl_conformance.triangles import adjoint, cholesky, growth, inverse, solve, triangle


@reference("diopiCholesky")
def factor(*, mat: Array, upper: bool, checkerror: bool) -> dict[str, Any]:
    """Return the Cholesky factor with an error bound.

    The computed factor is exact for A + D with ``|D| <= gamma(n + 1) |L| |L|ᴴ`` (theorem 10.3). To
    first order, ``dL = L · Φ(L⁻¹ · D · L⁻ᴴ)``, where Φ is the lower triangle with half of the
    diagonal (Murray, Differentiation of the Cholesky decomposition, 2016).
    """
    size = mat.shape[-1]
    lower, failed = cholesky(adjoint(mat) if upper else mat)
    if failed.any():
        return {"out": Unspecified(mat.shape), "info": failed}
    grown = growth(lower, upper=False)
    moved = _half_lower(grown @ np.swapaxes(grown, -1, -2))
    magnitude = np.abs(lower) @ moved
    if upper:
        lower, magnitude = adjoint(lower), np.swapaxes(magnitude, -1, -2)
    return {"out": Expected(lower, size + 1, magnitude), "info": failed}


def _half_lower(matrix: Array) -> Array:
    """Return Φ: the lower triangle with a halved diagonal."""
    return np.asarray(np.tril(matrix) + np.tril(matrix, -1)) / 2


def _mirrored(lower: Array) -> Array:
    """Return the Hermitian matrix with a given lower triangle."""
    rest = np.tril(lower, -1)
    diagonal = np.eye(lower.shape[-1]) * lower.real
    return np.asarray(rest + adjoint(rest) + diagonal)


@reference("diopiCholeskyBackward")
def factor_backward(
    *,
    grad_output: Array,
    L: Array,  # noqa: N803 - the name in the schema
    upper: bool,
) -> dict[str, Any]:
    """Return ``L⁻ᴴ · X · L⁻¹``, where X is half of the mirrored lower triangle of ``Lᴴ · G``
    (Murray).

    Errors of the product (section 3.5) propagate through both solves, each of which adds its own
    error (theorem 8.5). Either triangle of the result may be a copy of the other.
    """
    lower = triangle(adjoint(L) if upper else L, upper=False)
    grad = triangle(adjoint(grad_output) if upper else grad_output, upper=False)
    size, back = lower.shape[-1], inverse(lower, upper=False)
    half = _mirrored(np.tril(adjoint(lower) @ grad)) / 2
    of_half = _mirrored(np.tril(np.abs(adjoint(lower)) @ np.abs(grad))) / 2
    between = solve(adjoint(lower), half, upper=True)
    value = between @ back
    ahead = np.abs(back)
    magnitude = np.abs(adjoint(back)) @ of_half @ ahead
    magnitude = magnitude + growth(adjoint(lower), upper=True) @ np.abs(between) @ ahead
    magnitude = magnitude + np.abs(value) @ np.abs(lower) @ ahead
    either = np.maximum(magnitude, np.swapaxes(magnitude, -1, -2))
    return {"grad_mat": Expected(value, size, either)}


def _system(mat: Array, upper: bool, transpose: bool, unit: bool) -> tuple[Array, bool]:
    """Return the matrix of a system, and True if it is upper triangular."""
    found = triangle(mat, upper, unit)
    return (np.swapaxes(found, -1, -2), not upper) if transpose else (found, upper)


@reference("diopiTriangularSolve")
def triangular_solve(
    *, b: Array, mat: Array, upper: bool, transpose: bool, unitriangular: bool
) -> dict[str, Any]:
    """Solve a system; the result is exact for T + D, ``|D| <= gamma(n) |T|`` (theorem 8.5)."""
    system, above = _system(mat, upper, transpose, unitriangular)
    found = solve(system, b, above)
    magnitude = growth(system, above) @ np.abs(found)
    copy = np.broadcast_to(mat, (*found.shape[:-2], *mat.shape[-2:]))
    return {
        "out": Expected(found, mat.shape[-1], magnitude),
        "cloned_mat": Expected(copy, op_class="exact"),
    }


@reference("diopiTriangularSolveBackward")
def triangular_solve_backward(
    *,
    grad_x: Array | None,
    grad_cloned_mat: Array | None,
    x: Array,
    b: Array,
    mat: Array,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> dict[str, Any]:
    """Return ``op(T)⁻ᴴ · G`` and its product with ``-xᴴ``, summed over broadcast dimensions.

    Source: M. B. Giles, Collected matrix derivative results for forward and reverse mode
    algorithmic differentiation, 2008.

    The error of the solution (theorem 8.5) propagates through the product.
    """
    batch, size, columns = x.shape[:-2], x.shape[-2], x.shape[-1]
    system, above = _system(np.conj(mat), upper, not transpose, unitriangular)
    grad = np.zeros_like(x) if grad_x is None else grad_x
    found = solve(system, grad, above)
    of_found = growth(system, above) @ np.abs(found)
    of_mat = -found @ adjoint(x)
    of_of_mat = of_found @ np.swapaxes(np.abs(x), -1, -2)
    if transpose:
        of_mat, of_of_mat = (np.swapaxes(each, -1, -2) for each in (of_mat, of_of_mat))
    kept = triangle(np.ones((size, size)), upper) - (np.eye(size) if unitriangular else 0)
    value, magnitude = of_mat * kept, of_of_mat * kept
    if grad_cloned_mat is not None:
        value, magnitude = value + grad_cloned_mat, magnitude + np.abs(grad_cloned_mat)
    copies_b = _copies(batch, b.shape[:-2])
    copies_mat = _copies(batch, mat.shape[:-2])
    length = size + (columns + 1) * copies_mat
    return {
        "grad_b": Expected(
            _summed(found, b.shape), size + copies_b - 1, _summed(of_found, b.shape)
        ),
        "grad_mat": Expected(_summed(value, mat.shape), length, _summed(magnitude, mat.shape)),
    }


def _copies(batch: tuple[int, ...], own: tuple[int, ...]) -> int:
    """Return the number of batch matrices that are summed for each matrix of a shape."""
    return int(np.prod(batch)) // max(int(np.prod(own)), 1)


def _summed(matrix: Array, shape: tuple[int, ...]) -> Array:
    """Sum over the dimensions along which the shape broadcasts."""
    missing = matrix.ndim - len(shape)
    axes = [d for d in range(matrix.ndim) if d < missing or shape[d - missing] != matrix.shape[d]]
    return np.asarray(matrix.sum(axis=tuple(axes))).reshape(shape)
