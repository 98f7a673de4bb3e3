"""Predicates of causes in linear algebra: results differ from the CPU's, and are right.

A result is right if its residual is small, as stable algorithms promise. Source: Higham, Accuracy
and Stability of Numerical Algorithms (2002), sections 7.1 and 9.3.
"""

from __future__ import annotations

import math

import torch

from diopi_proto.tolerance.torch_operators.comparison import to_host

from .judge import Difference


def is_another_factorization(difference: Difference) -> bool:
    """Return True if a pivot differs because several elements are equally large up to rounding.

    The matrix is then P @ L @ U for both, and elements of L exceed 1 by rounding at most.
    """
    matrix = to_host(difference.call.arguments[0])
    outcomes = (difference.got, difference.cpu)
    pairs = [(to_host(x.leaves()[0]), to_host(x.leaves()[1])) for x in outcomes]
    same_pivots = torch.equal(pairs[0][1], pairs[1][1])
    return not same_pivots and all(_factorizes(matrix, lu, pivots) for lu, pivots in pairs)


def overflows_by_pivots(difference: Difference) -> bool:
    """Return True if pivots differ, one side is not finite, and differences of two elements of the
    matrix overflow.

    Columns before the first that is not finite are factors of the matrix for both sides.
    """
    matrix = to_host(difference.call.arguments[0])
    if matrix.dim() != 2 or bool(matrix.abs().max() < torch.finfo(matrix.dtype).max / 2):
        return False
    outcomes = (difference.got, difference.cpu)
    (got, cpu) = ((to_host(x.leaves()[0]), to_host(x.leaves()[1])) for x in outcomes)
    columns = int((got[0].isfinite() & cpu[0].isfinite()).all(0).int().cumprod(0).sum())
    return (
        columns < matrix.shape[1]
        and not torch.equal(got[1], cpu[1])
        and all(_factorizes(matrix, *x, columns=columns) for x in (got, cpu))
    )


def _factorizes(
    matrix: torch.Tensor, lu: torch.Tensor, pivots: torch.Tensor, columns: int | None = None
) -> bool:
    wide = torch.complex128 if matrix.is_complex() else torch.float64
    order, lower, upper = torch.lu_unpack(lu.to(wide), pivots)
    matrix = matrix[..., :columns]
    lower, upper = lower[..., :columns], upper[..., :columns, :columns]
    eps = torch.finfo(matrix.dtype).eps
    sizes = order.abs() @ lower.abs() @ upper.abs()
    residual = (order @ lower @ upper - matrix.to(wide)).abs()
    # A factor that underflows is wrong by less than the smallest normal number.
    underflow = torch.finfo(matrix.dtype).smallest_normal * matrix.abs().max()
    close = residual <= 4 * max(matrix.shape[-2:]) * (eps * sizes + underflow)
    return bool(close.all()) and bool((lower.abs() <= 1 + 64 * eps).all())


def is_another_solution(difference: Difference) -> bool:
    """Return True if the matrix of ``tensorsolve`` determines no digit of the solution, and the
    device's solves the equations to rounding."""
    first, (second, *_), kwargs = difference.call.arguments
    if kwargs.get("dims") is not None:
        return False
    wide = torch.complex128 if first.is_complex() else torch.float64
    result = to_host(difference.got.leaves()[0]).to(wide).flatten()
    right = to_host(second).to(wide).flatten()
    matrix = to_host(first).to(wide).reshape(right.numel(), math.prod(first.shape[second.dim() :]))
    eps = torch.finfo(first.dtype).eps
    sizes = matrix.abs() @ result.abs() + right.abs()
    solves = (matrix @ result - right).abs() <= 16 * result.numel() * eps * sizes
    return bool(torch.linalg.cond(matrix) * eps > 1) and bool(solves.all())
