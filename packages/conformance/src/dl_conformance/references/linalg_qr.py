"""QR factors by Householder's reflectors, with LAPACK's signs.

The bound is N. J. Higham's, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002,
theorem 19.4: computed factors are those of A + D, of which each column has ``|d_j| <= e |a_j|`` in
the Euclidean norm, Q being orthogonal but for columns of length e. The constant of e, which the
book leaves open, is here 6 gamma(m + 8) for each of the r reflectors of rows of length m: the
rounded norm moves v by (m / 2 + 6) u and tau by (m + 8) u, the inner product by m u, the update by
2 u, and two times these is what ``|tau| |v|² = 2`` makes of their sum.

From there by first derivatives: with ``W = Qᴴ · D · R⁻¹``, R moves by the sum of W's upper triangle
and its lower one's adjoint, times R, and Q by ``Q · S`` plus what D adds beside the columns of Q, S
being W less that sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.triangles import inverse


def householder(matrix: Array) -> tuple[Array, Array]:
    """Q, square, and R of one matrix.

    Reflector j is ``I - tau · v · vᴴ``, whose adjoint makes ``beta · e`` of what is left of column
    j, beta being real and its sign not that of the real part of the first element. Where all below
    that one is 0 and it is real, the reflector is the identity.
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
    """How far Q and R may be off, in units of the e of one reflector's rows."""
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
    # Other columns follow from the reflectors alone. One moves by at most 2 sqrt(2) of what it is
    # made from, relatively, 14 where complex; and that by all reflectors before it.
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
