"""LU factorization with partial pivoting, and the row permutation of its pivots.

Computed factors are exact for A + D with ``|D| <= gamma(k) |L| |U|``, k = min(m, n), in any
summation order (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002,
theorem 9.3). The bound here uses k + 1, because columns may be multiplied by reciprocals of pivots.
To first order, with ``W = L₁⁻¹ · D₁ · U₁⁻¹`` of the leading square block, dL₁ is L₁ times the
strictly lower triangle of W, and dU₁ is the upper triangle of W times U₁. The errors outside of the
square block follow from ``D = dL · U + L · dU``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, OutputShape, Unspecified, reference
from dl_conformance.triangles import inverse, triangle


def pivot_size(numbers: Array) -> Array:
    """Return LAPACK's magnitude of complex numbers: the sum of the magnitudes of their parts."""
    return np.asarray(np.abs(numbers.real) + np.abs(numbers.imag))


def lu(matrix: Array) -> tuple[Array, Array, int]:
    """Return the packed factors, the pivots, and the number of the first zero pivot or 0."""
    factors, failed = matrix.copy(), 0
    rows, columns = matrix.shape
    pivots = np.empty(min(rows, columns), np.int32)
    for j in range(len(pivots)):
        found = j + int(np.argmax(pivot_size(factors[j:, j])))
        pivots[j] = found + 1
        factors[[j, found]] = factors[[found, j]]
        if factors[j, j] == 0:
            failed = failed or j + 1
            continue
        factors[j + 1 :, j] /= factors[j, j]
        factors[j + 1 :, j + 1 :] -= factors[j + 1 :, j, None] * factors[j, None, j + 1 :]
    return factors, pivots, failed


def errors(factors: Array) -> Array:
    """Return error bounds of both factors, in units of the unit roundoff."""
    rows, columns = factors.shape
    count = min(rows, columns)
    lower = triangle(factors[:count, :count], upper=False, unit=True)
    upper = triangle(factors[:count, :count], upper=True)
    below, beside = np.abs(factors[count:, :count]), np.abs(factors[:count, count:])
    back_lower = np.abs(inverse(lower, upper=False))
    back_upper = np.abs(inverse(upper, upper=True))
    lower, upper = np.abs(lower), np.abs(upper)
    w = back_lower @ (lower @ upper) @ back_upper
    of_lower, of_upper = np.tril(w, -1), np.triu(w)
    found = np.empty(factors.shape, lower.dtype)
    found[:count, :count] = np.tril(lower @ of_lower, -1) + np.triu(of_upper @ upper)
    found[count:, :count] = below @ upper @ back_upper + below @ of_upper
    found[:count, count:] = back_lower @ lower @ beside + of_lower @ beside
    return found


@reference("dlopLinalgLu")
def factor(*, mat: Array, checkerror: bool) -> dict[str, Any]:
    """Return the comparable part: after a zero pivot, the factors depend on roundings."""
    batch, (rows, columns) = mat.shape[:-2], mat.shape[-2:]
    factors, magnitude = np.empty_like(mat), np.empty(mat.shape, mat.real.dtype)
    pivots = np.empty((*batch, min(rows, columns)), np.int32)
    failed = np.zeros(batch, np.int32)
    for at in np.ndindex(batch):
        factors[at], pivots[at], failed[at] = lu(mat[at])
        if not failed[at]:
            magnitude[at] = errors(factors[at])
    if failed.any():
        return {"lu": Unspecified(mat.shape), "pivots": pivots, "info": failed}
    length = min(rows, columns) + 1
    return {"lu": Expected(factors, length, magnitude), "pivots": pivots, "info": failed}


@reference("dlopPivotsToPermutation")
def permutation(*, pivots: Array, out: OutputShape) -> dict[str, Any]:
    order = np.broadcast_to(np.arange(out[-1]), out).copy()
    for at in np.ndindex(pivots.shape[:-1]):
        row = order[at]
        for i, other in enumerate(pivots[at]):
            row[[i, other - 1]] = row[[other - 1, i]]
    return {"out": order}
