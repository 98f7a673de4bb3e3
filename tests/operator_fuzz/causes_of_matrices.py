"""Causes of different values of factorizations and of solutions of linear equations."""

from __future__ import annotations

from .arguments import (
    is_deficient,
    powers_overflow,
)
from .cause import Cause
from .outcomes import (
    from_infinities,
    infinite_or_nan,
)
from .solutions import is_another_factorization, is_another_solution, overflows_by_pivots

MATRICES: tuple[Cause, ...] = (
    Cause(
        "factors of a matrix that is singular or has infinities are rounding",
        "values",
        r"lu.*|qr|geqrf|svd|pinverse|cholesky.*|linalg\..*|ormqr|triangular_solve|logdet|svd_.*"
        "|pca_lowrank",
        is_deficient,
    ),
    Cause(
        "which of several elements that are largest but for rounding is the pivot is left open",
        "values",
        r"lu|(linalg\.)?lu_factor(_ex)?",
        is_another_factorization,
    ),
    Cause(
        "a difference of nearly the largest numbers overflows, or not, by the pivots before it",
        "values",
        r"lu|(linalg\.)?lu_factor(_ex)?",
        overflows_by_pivots,
    ),
    Cause(
        "the matrix is singular to its precision, and dl's result solves the equations",
        "values",
        r"linalg\.tensorsolve",
        is_another_solution,
    ),
    Cause(
        "results after a minor that is not positive definite are undefined",
        "values",
        r"(linalg\.)?cholesky_ex",
        lambda difference: bool(difference.cpu.leaves()[1].any()),
    ),
    Cause(
        "which columns meet a factor that is nan depends on the algorithm",
        "values",
        r"linalg\.householder_product|ormqr",
        from_infinities,
    ),
    Cause(
        "products overflow where both the vectors and their factors are huge",
        "values",
        r"linalg\..*|cholesky.*|lu.*|qr|ormqr|geqrf|triangular_solve|svd.*|pinverse|logdet",
        lambda difference: powers_overflow(difference) and infinite_or_nan(difference),
    ),
)
