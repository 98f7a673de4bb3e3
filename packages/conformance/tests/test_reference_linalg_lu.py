"""References of LU factors and pivots match torch, and identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl_conformance.case import T
from dl_conformance.reference import Unspecified
from dl_conformance.references.linalg_lu import errors, lu, permutation
from double_precision import double, runs, value

SMALL = np.longdouble(2) ** -30


def test_lu_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, want in runs("dlopLinalgLu"):
        factors, pivots, info = torch.linalg.lu_factor_ex(double(inputs.wide["mat"]))
        assert np.array_equal(value(want["info"]), info.numpy()), name
        if isinstance(want["lu"], Unspecified):
            continue
        assert np.array_equal(value(want["pivots"]), pivots.numpy()), name
        np.testing.assert_allclose(
            factors.numpy(),
            value(want["lu"]).astype(factors.numpy().dtype),
            rtol=1e-11,
            atol=1e-12,
            err_msg=name,
        )


def test_lu_is_a_factorization_of_the_rows_in_their_order() -> None:
    for name, inputs, want in runs("dlopLinalgLu"):
        if isinstance(want["lu"], Unspecified) or not inputs.wide["mat"].size:
            continue
        mat, factors = inputs.wide["mat"], value(want["lu"])
        count = min(mat.shape[-2:])
        eye = np.eye(mat.shape[-2], count)
        lower, upper = np.tril(factors[..., :count], -1) + eye, np.triu(factors[..., :count, :])
        order = permutation(pivots=value(want["pivots"]), out=mat.shape[:-1])["out"]
        rows = np.take_along_axis(mat, order[..., None], -2)
        assert np.abs(lower @ upper - rows).max(initial=0) < 1e-16, name
        if mat.dtype.kind != "c":
            assert np.abs(lower).max(initial=0) <= 1, name


def test_permutation_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, want in runs("dlopPivotsToPermutation"):
        order = value(want["out"])
        pivots = torch.from_numpy(np.ascontiguousarray(inputs.wide["pivots"]).astype(np.int32))
        if not order.size or not pivots.shape[-1]:
            assert np.array_equal(order, np.broadcast_to(np.arange(order.shape[-1]), order.shape))
            continue
        columns = pivots.shape[-1]
        factors = torch.zeros(*order.shape, columns)
        matrix, _, _ = torch.lu_unpack(factors, pivots, unpack_data=False)
        assert np.array_equal(order, matrix.argmax(-2).numpy()), name


def noise(key: str, like: Any) -> Any:
    """Return random numbers in [-1, 1]."""
    shape = "x".join(map(str, like.shape))
    dtype = "complex128" if like.dtype.kind == "c" else "float64"
    return T(shape, low=-0.7, high=0.7).elements(key, dtype, "").astype(like.dtype)


def test_magnitude_of_factors_bounds_the_effect_of_matrix_errors() -> None:
    for name, _, want in runs("dlopLinalgLu"):
        if isinstance(want["lu"], Unspecified) or value(want["lu"]).ndim != 2:
            continue
        factors = value(want["lu"])
        count = min(factors.shape)
        eye = np.eye(factors.shape[0], count)
        lower, upper = np.tril(factors[:, :count], -1) + eye, np.triu(factors[:count])
        size = np.abs(lower) @ np.abs(upper)
        mat = lower @ upper
        base, pivots, _ = lu(mat)
        moved, others, _ = lu(mat + noise(name, mat) * size * SMALL)
        assert np.array_equal(pivots, others), name
        assert np.all(np.abs(moved - base) <= 1.001 * errors(factors) * SMALL + 1e-17), name


def test_bounds_are_small() -> None:
    """Error bounds stay below 2 % of the largest element in float32."""
    for name, _, want in runs("dlopLinalgLu"):
        if isinstance(want["lu"], Unspecified) or not value(want["lu"]).size:
            continue
        terms = (np.max(want["lu"].length) + 4) * (3 if value(want["lu"]).dtype.kind == "c" else 1)
        bound = terms * 2.0**-24 * np.max(np.abs(want["lu"].magnitude))
        assert bound < 0.02 * max(np.abs(value(want["lu"])).max(), 1), f"{name}: {bound}"
