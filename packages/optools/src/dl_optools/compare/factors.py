"""Check of matrix factorisations by multiplying the factors.

Vectors have an arbitrary sign or phase, and of two nearly equal pivots either is right, so this
check multiplies the factors again. The allowed residual is :data:`MULTIPLE` n eps of the matrix's
norm, as in LAPACK's own tests (LAPACK Working Note 41, section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Tensor = torch.Tensor
Bound = Mapping[str, Any]
Residuals = Mapping[int, Tensor]

MULTIPLE = 30.0


def residual_units(name: str, bound: Bound, answers: Sequence[Any], at: int) -> float | None:
    """Return the residual of one result in units of the allowed one; None: it is not a factor.

    :param name: name of the operator.
    :param bound: the call's arguments by name.
    :param answers: all of the device's results, on the CPU.
    :param at: index of the result in question.
    """
    check = FACTORS.get(name)
    if check is None or at not in check[1] or not isinstance(answers[at], Tensor):
        return None
    matrix = next(x for key, x in bound.items() if key in ("A", "self"))
    dtype = torch.complex128 if matrix.is_complex() else torch.float64
    results = [_wide(x) if isinstance(x, Tensor) else x for x in answers]
    if not matrix.numel() or not bool(matrix.isfinite().all()):
        return None
    eps = torch.finfo(matrix.dtype).eps
    worst = 0.0
    try:
        pairs = check[0](matrix.to(dtype), bound, results)
    except RuntimeError:
        # The factors are malformed: a pivot is not a row index.
        return float("inf")
    for found, want in pairs:
        if found.shape != want.shape:
            return float("inf")
        size = torch.linalg.matrix_norm(want).amax() if want.numel() else torch.zeros(())
        allowed = MULTIPLE * max(matrix.shape[-2:]) * eps * max(float(size), 1e-300)
        off = float((found - want).abs().nan_to_num(float("inf")).amax()) if want.numel() else 0.0
        worst = max(worst, off / allowed)
    return worst


def _wide(x: Tensor) -> Tensor:
    if x.is_complex():
        return x.to(torch.complex128)
    return x.double() if x.is_floating_point() else x


Pairs = list[tuple[Tensor, Tensor]]


def _orthonormal(vectors: Tensor) -> tuple[Tensor, Tensor]:
    product = vectors.mH @ vectors
    return product, torch.eye(product.size(-1), dtype=product.dtype).expand(product.shape)


def _eigh(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
    values, vectors = results[:2]
    upper = str(bound.get("UPLO", "L")).upper() == "U"
    half = matrix.triu(1) if upper else matrix.tril(-1)
    diagonal = torch.diag_embed(matrix.diagonal(dim1=-2, dim2=-1).real).to(matrix.dtype)
    whole = half + half.mH + diagonal
    scaled = vectors * values.unsqueeze(-2).to(matrix.dtype)
    return [(scaled @ vectors.mH, whole), _orthonormal(vectors)]


def _eig(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
    """Return A V and V W with columns of length 1, compared with the norm of A on both sides."""
    values, vectors = (x.to(torch.complex128) for x in results[:2])
    wide = matrix.to(torch.complex128)
    lengths = vectors.abs().square().sum(-2)
    size = wide + (wide @ vectors - vectors * values.unsqueeze(-2))
    return [(size, wide), (lengths.unsqueeze(-1), torch.ones_like(lengths).unsqueeze(-1))]


def _svd(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
    left, values, right = results[:3]
    if not bound.get("compute_uv", True):
        return []
    count = values.size(-1)
    product = (left[..., :count] * values.unsqueeze(-2).to(matrix.dtype)) @ right[..., :count, :]
    return [(product, matrix), _orthonormal(left), _orthonormal(right.mH)]


def _qr(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
    q, r = results[:2]
    if bound.get("mode", "reduced") == "r":
        return [(r.mH @ r, matrix.mH @ matrix), (r.triu(), r)]
    return [(q @ r, matrix), _orthonormal(q), (r.triu(), r)]


def _lu(first: int) -> Callable[[Tensor, Bound, Sequence[Any]], Pairs]:
    """Return a check of LU and pivots at a result index, of the matrix or of its transpose."""

    def check(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
        p, lower, upper = torch.lu_unpack(results[first], results[first + 1])
        product = p @ lower @ upper
        turned = product.mT if product.shape == matrix.mT.shape else product
        straight = (product - matrix).abs().amax() if product.shape == matrix.shape else None
        other = (turned - matrix).abs().amax() if turned.shape == matrix.shape else None
        better = straight is None or (other is not None and bool(other < straight))
        found = [(turned if better else product, matrix)]
        if bound.get("pivot", True):
            found.append((lower.abs().clamp_min(1), torch.ones_like(lower.abs())))
        return found

    return check


def _plu(matrix: Tensor, bound: Bound, results: Sequence[Any]) -> Pairs:
    p, lower, upper = results[:3]
    product = p @ lower @ upper if p.numel() else lower @ upper
    return [(product, matrix), (lower.tril(), lower), (upper.triu(), upper)]


FACTORS: dict[str, tuple[Callable[[Tensor, Bound, Sequence[Any]], Pairs], frozenset[int]]] = {
    "_linalg_det": (_lu(1), frozenset({1, 2})),
    "_linalg_eigh": (_eigh, frozenset({1})),
    "_linalg_slogdet": (_lu(2), frozenset({2, 3})),
    "_linalg_solve_ex": (_lu(1), frozenset({1, 2})),
    "_linalg_svd": (_svd, frozenset({0, 2})),
    "linalg_eig": (_eig, frozenset({1})),
    "linalg_lu": (_plu, frozenset({0, 1, 2})),
    "linalg_lu_factor_ex": (_lu(0), frozenset({0, 1})),
    "linalg_qr": (_qr, frozenset({0, 1})),
}
"""The check that multiplies the factors, and the results that it judges, by operator name."""
