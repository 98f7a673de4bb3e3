"""QR factorization by Householder reflectors, with LAPACK's signs.

The bound follows N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002,
theorem 19.4: computed factors are exact for A + D, where each column of D satisfies ``|d_j| <= e
|a_j|`` in the Euclidean norm, and each column of Q differs from an orthonormal one by at most e.
The book leaves the constant in e open. Here it is 6 gamma(m + 8) for each of the r reflectors of
length m: the rounded norm changes v by (m / 2 + 6) u and tau by (m + 8) u, the inner product adds m
u and the update 2 u, and ``|tau| |v|² = 2`` doubles their sum.

To first order, with ``W = Qᴴ · D · R⁻¹`` and T the sum of the upper triangle of W and the adjoint
of its strictly lower triangle, dR is ``T · R``. dQ is ``Q · (W - T)`` plus the part of ``D · R⁻¹``
that is orthogonal to the columns of Q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.triangles import inverse


def householder(matrix: Array) -> tuple[Array, Array]:
    """Return the square Q, and R, of one matrix.

    The adjoint of reflector j, ``I - tau · v · vᴴ``, maps the remaining part of column j to ``beta
    · e``. beta is real, with the opposite sign of the real part of the first element. If that
    element is real and all elements below are 0, the reflector is the identity.
    """
    rows, columns = matrix.shape
    upper, orthogonal = matrix.copy(), np.eye(rows, dtype=matrix.dtype)
    for j in range(min(rows, columns)):
        x = upper[j:, j].copy()
        if not np.any(x[1:]) and x[0].imag == 0:
            continue
        beta = -np.copysign(np.sqrt(np.sum(x.real**2 + x.imag**2)), x[0].real)
        tau = (beta - x[0]) / beta
        v = x / (x[0] - beta)
        v[0] = 1
        turned = np.conj(tau) * (np.conj(v) @ upper[j:, j:])
        upper[j:, j:] -= v[:, None] * turned
        upper[j, j], upper[j + 1 :, j] = beta, 0
        orthogonal[:, j:] -= tau * (orthogonal[:, j:] @ v)[:, None] * np.conj(v)
    return orthogonal, upper


def _norms(matrix: Array, axis: int) -> Array:
    return np.asarray(np.sqrt(np.sum(np.abs(matrix) ** 2, axis=axis)))


def errors(matrix: Array, orthogonal: Array, upper: Array) -> tuple[Array, Array]:
    """Return error bounds of Q and R, in units of the e of one reflector."""
    is_complex = matrix.dtype.kind == "c"
    rows, columns = matrix.shape
    count = min(rows, columns)
    size = _norms(matrix, 0)
    w = size[:count] @ np.abs(inverse(upper[:count, :count], upper=True))
    all_w = np.broadcast_to(w, (count, count))
    below = np.tril(all_w, -1)
    turned = below + below.T + (np.diag(w) if is_complex else 0)
    of_upper = np.zeros(upper.shape, size.dtype)
    moved = np.triu(all_w) + below.T
    of_upper[:count, :count] = moved @ np.abs(upper[:count, :count])
    of_upper[:count, count:] = turned @ np.abs(upper[:count, count:]) + size[count:]
    kept = orthogonal[:, :count]
    beside = np.sqrt(np.maximum(0, 1 - _norms(kept, 1) ** 2))
    of_orthogonal = np.empty(orthogonal.shape, size.dtype)
    of_orthogonal[:, :count] = np.abs(kept) @ turned + beside[:, None] * w + 1
    # The other columns depend on the reflectors alone. The relative change of a reflector is at
    # most 2 sqrt(2) times that of its column, 14 times if complex, summed over all previous ones.
    total = np.longdouble(1)
    for j in range(count):
        total += (14 if is_complex else np.sqrt(8)) * size[j] / abs(upper[j, j]) * total
    of_orthogonal[:, count:] = total
    return 6 * count * of_orthogonal, 6 * count * of_upper


@reference("diopiLinalgQR")
def qr(*, A: Array, mode: str) -> dict[str, Any]:  # noqa: N803 - the name in the schema
    rows, columns = A.shape[-2:]
    count = rows if mode == "complete" else min(rows, columns)
    batch, real = A.shape[:-2], A.real.dtype
    q, r = (np.empty((*batch, *s), A.dtype) for s in ((rows, count), (count, columns)))
    of_q, of_r = np.empty(q.shape, real), np.empty(r.shape, real)
    for at in np.ndindex(batch):
        orthogonal, upper = householder(A[at])
        of_orthogonal, of_upper = errors(A[at], orthogonal, upper)
        q[at], of_q[at] = orthogonal[:, :count], of_orthogonal[:, :count]
        r[at], of_r[at] = upper[:count], of_upper[:count]
    found = {"R": Expected(r, rows + 5, of_r)}
    return found if mode == "r" else {"Q": Expected(q, rows + 5, of_q), **found}
